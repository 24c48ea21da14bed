"""How do rows come from Spark to the tester?"""

import warnings

from pyspark.sql import DataFrame, Row


def rows_of(frame: DataFrame) -> list[Row]:
    """Run the query and give its rows, which must be few: counts and bounded samples."""
    with warnings.catch_warnings():  # pyspark leaves it to the garbage collector to close a collect's socket
        warnings.filterwarnings("ignore", "unclosed <socket", ResourceWarning)
        return list(frame.collect())
