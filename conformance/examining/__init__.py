"""How is each examination conducted? An entry names module and subject: ``examined=by("lag:LAG_GAUGE")``."""
