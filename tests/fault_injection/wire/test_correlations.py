"""Does an answer find its request?"""

from fault_injection.wire.passage import CORRELATIONS_MAX, Correlator


def test_answers_find_their_requests_in_order() -> None:
    correlator: Correlator[str] = Correlator()
    correlator.sent(1, "a")
    correlator.sent(2, "b")
    assert correlator.answered(1) == "a"
    assert correlator.answered(2) == "b"
    assert correlator.answered(2) is None


def test_requests_before_an_answered_one_have_no_answer() -> None:
    correlator: Correlator[str] = Correlator()
    for number in range(5):
        correlator.sent(number, str(number))
    assert correlator.answered(3) == "3"
    assert len(correlator) == 1
    assert correlator.answered(0) is None


def test_a_correlation_id_used_again_names_the_later_request() -> None:
    correlator: Correlator[str] = Correlator()
    correlator.sent(1, "old")
    correlator.sent(2, "between")
    correlator.sent(1, "new")
    assert correlator.answered(1) == "new"
    assert len(correlator) == 0


def test_requests_that_are_never_answered_are_forgotten_in_the_end() -> None:
    correlator: Correlator[int] = Correlator()
    for number in range(CORRELATIONS_MAX + 5):
        correlator.sent(number, number)
    assert len(correlator) == CORRELATIONS_MAX
    assert correlator.answered(4) is None
    assert correlator.answered(5) == 5
