"""Why could a run's trace not be checked?"""


class TraceUnreadableError(Exception):
    """The wire trace is missing, cut short, misses frames, or holds frames that matter and cannot be read."""


class FramesMissingError(TraceUnreadableError):
    """Frames are not where they belong: what came after them may seem impossible, and is not."""
