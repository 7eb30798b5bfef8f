"""The words all floors share: frozen types, Protocols, the error family. Imports nothing of ours."""
