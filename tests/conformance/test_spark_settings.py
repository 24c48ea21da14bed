"""Which settings of Spark does a soak take, and which does it refuse with the reason?"""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from conformance.spark_settings import REFUSED, spark_setting, spark_settings
from fault_injection.cluster.hosts import AdvertisedHost
from fault_injection.releases import UsageError

HERE = AdvertisedHost("here", "10.1.2.3")
MASTER = "spark://there:7077"


def test_a_setting_is_a_key_and_a_value_which_may_have_any_sign() -> None:
    assert spark_setting("spark.executor.memory=4g") == ("spark.executor.memory", "4g")
    assert spark_setting("spark.executor.extraJavaOptions=-Da=b -Dc") == (
        "spark.executor.extraJavaOptions",
        "-Da=b -Dc",
    )
    assert spark_setting("spark.yarn.queue=") == ("spark.yarn.queue", "")


@pytest.mark.parametrize("text", ["", "spark.executor.memory", "executor.memory=4g", "spark.a b=1", "=4g"])
def test_what_spark_would_pass_over_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"such as spark\.executor\.memory=4g"):
        spark_setting(text)


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_tester_needs_to_be_what_it_is_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(ArgumentTypeError) as refused:
        spark_setting(f"{name}=anything")
    assert str(refused.value) == f"{name} cannot be set: {REFUSED[name]}"


def test_a_setting_that_is_given_twice_is_refused() -> None:
    with pytest.raises(UsageError, match=r"spark\.a is given twice"):
        spark_settings([("spark.a", "1"), ("spark.b", "2"), ("spark.a", "1")], MASTER)


def test_the_driver_is_where_brokers_are_advertised_and_listens_there_alone() -> None:
    at = {"spark.driver.host": "here", "spark.driver.bindAddress": "10.1.2.3"}
    assert spark_settings([], MASTER, HERE) == at
    assert spark_settings([("spark.driver.host", "outside")], MASTER, HERE) == {**at, "spark.driver.host": "outside"}
    assert spark_settings([("spark.driver.port", "7000")], MASTER, HERE) == {**at, "spark.driver.port": "7000"}


@pytest.mark.parametrize("master", ["local[2]", "local[*]"])
def test_the_driver_of_this_machine_alone_is_reached_by_nobody_else(master: str) -> None:
    assert spark_settings([], master, HERE) == {}


def test_without_a_host_the_driver_stays_on_loopback() -> None:
    assert spark_settings([("spark.executor.cores", "2")], MASTER) == {"spark.executor.cores": "2"}
