"""Which mistakes of the user's request or machine end a run before anything starts?"""


class UsageError(Exception):
    """The request cannot be carried out as it was made; the message is one clear sentence.

    The command line prints the message and exits with the code for usage errors.
    """


class UnknownReleaseError(UsageError):
    """No supported release has this name."""


class UnsupportedMetadataModeError(UsageError):
    """The release cannot run in this metadata mode."""


class JavaNotFoundError(UsageError):
    """No Java that is new enough was found on this machine."""


class ChangedJarError(UsageError):
    """A jar of a release is not the one that was released."""


class JarsUnavailableError(UsageError):
    """The jars are neither cached nor obtainable."""
