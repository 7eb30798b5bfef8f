"""placeholder"""
from governance.proof import syntax as s
from governance.proof.scope import Proof
from governance.proof.violation import RefusedError
def check_write(proof: Proof, query: s.Query) -> tuple[list[str], str]:
    raise RefusedError("write", "not yet")
