"""What the driver's errors mean: which may pass if tried again, and what to say of the others."""

from neo4j.exceptions import (
    AuthError,
    ConnectionAcquisitionTimeoutError,
    DriverError,
    Forbidden,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from contracts.errors import FrontlineError, OutOfTimeError, OverLimitError, StoreError

#: All that the driver raises, and the operating system beneath it.
DRIVER_ERRORS = (Neo4jError, DriverError, OSError)
#: The connection is gone, or there was none to be had.
_LOST = (ServiceUnavailable, SessionExpired, IncompleteCommit, OSError)

_OUT_OF_MEMORY = ("MemoryPoolOutOfMemoryError", "TransactionOutOfMemoryError", "OutOfMemoryError", "StackOverFlowError")


def is_lost_connection(error: Exception) -> bool:
    """Whether the server was not reached, or lost before it had answered."""
    return isinstance(error, _LOST) or "DatabaseUnavailable" in _code(error)


def is_transient(error: Exception) -> bool:
    """Whether the same may succeed later: a deadlock, a change of leader, a restart, a pool that was used up."""
    if isinstance(error, ConnectionAcquisitionTimeoutError):
        return True
    if any(name in _code(error) for name in _OUT_OF_MEMORY):
        return False
    return isinstance(error, Neo4jError | DriverError) and error.is_retryable()


def translated(error: Exception, what: str) -> FrontlineError:
    """Our error for the driver's, to be raised ``from`` it. ``what`` names was asked for: ``query``."""
    code = _code(error)
    if "TransactionTimedOut" in code or "LockClientStopped" in code or "Transaction.Terminated" in code:
        return OutOfTimeError(f"the {what} took longer than it may")
    if any(name in code for name in _OUT_OF_MEMORY):
        return OverLimitError(f"the {what} asks for more memory than one question may")
    if "ConstraintValidationFailed" in code:
        return StoreError(f"the {what} would break a constraint of the graph: nothing was changed")
    if "ConstraintCreationFailed" in code:
        return StoreError("the graph database holds values twice that are to be unique: remove them, then try again")
    if isinstance(error, AuthError):
        return StoreError("the graph database refuses the user or the password: correct them in the settings")
    if isinstance(error, Forbidden):
        return StoreError(f"the graph database's user may not do what this {what} needs: give it the rights")
    if "DatabaseNotFound" in code:
        return StoreError("the graph database has no database of that name: correct it in the settings")
    if isinstance(error, IncompleteCommit):
        return StoreError("the connection was lost while the change was committed: ask again under the same key")
    if isinstance(error, ConnectionAcquisitionTimeoutError):
        return OutOfTimeError(f"all connections to the graph database were in use for as long as the {what} may take")
    if is_lost_connection(error):
        return StoreError("the graph database can't be reached: start it, or correct its address in the settings")
    return StoreError(f"the graph could not carry out the {what}")


def _code(error: Exception) -> str:
    return (error.code or "") if isinstance(error, Neo4jError) else ""
