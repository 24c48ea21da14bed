"""Does a real broker among puppets answer every examination as the model of its release predicts?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.vocabulary import MetadataMode
from tests.conformance.puppet_scripts.scripts import WITH_SCRIPTS, disagreeing

if TYPE_CHECKING:
    from conformance.catalogue.examination import Examination
    from tests.integration.puppets.conftest import Played

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]


@pytest.mark.parametrize("examination", WITH_SCRIPTS, ids=lambda examination: examination.name)
def test_the_broker_answers_as_predicted(played: Played, examination: Examination) -> None:
    reason = examination.where.reason_not_to_run(played.version, MetadataMode.ZOOKEEPER)
    if reason is not None:
        pytest.skip(reason)

    measured = played.answers(examination)

    predicted = examination.subject.predict(played.rules)
    assert [answer.what for answer in measured] == [answer.what for answer in predicted]
    assert disagreeing(predicted, measured) == []
