"""Is a soak refused whose records do not fit, and told what would?"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from conformance.soak import disk
from conformance.soak.disk import check_room, needed_room
from fault_injection.releases import UsageError
from tests.conformance.soak.soaks import soak

if TYPE_CHECKING:
    from pathlib import Path

GB = 10**9


def test_a_hundred_million_records_of_three_replicas_need_what_they_took() -> None:
    needed = needed_room(soak(records=10**8))
    assert 35 * GB < needed.logs < 40 * GB
    assert needed.ledger < GB
    assert needed.whole > needed.logs + needed.ledger + needed.trace


def test_small_batches_and_the_old_format_need_more() -> None:
    fast, slow, old = (
        needed_room(soak(records=10**6, **it)).logs for it in ({}, {"rate": 100}, {"version": "0.10.2.2"})
    )
    assert slow > fast
    assert old > fast
    assert slow > old


def test_a_soak_of_an_hour_needs_what_its_rate_makes() -> None:
    hour = needed_room(soak(duration_s=3600, rate=20_000))
    assert hour.records == 72_000_000
    assert hour.trace == pytest.approx(2**30, rel=0.01)
    assert needed_room(soak(duration_s=3600, records=1000)).records == 1000
    assert needed_room(soak(duration_s=60)).records == 12_000_000


def test_what_fits_may_begin(tmp_path: Path) -> None:
    assert check_room(soak(records=1000), tmp_path / "runs").records == 1000


def test_what_does_not_fit_is_refused_in_words(tmp_path: Path) -> None:
    asked = soak(records=10**12)
    with pytest.raises(UsageError) as refused:
        check_room(asked, tmp_path / "not" / "there")
    told = str(refused.value)
    assert re.match(r"1,000,000,000,000 records need 4\d\d,\d{3}\.\d GB \(logs of all replicas .* GB\), and \d", told)
    assert f"GB are free in {tmp_path / 'not' / 'there'}" in told
    assert "ask for at most " in told
    assert "(--records), fewer --replicas than 3, or set TMPDIR to a directory on a disk that has the room." in told


def test_a_soak_that_would_never_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give --records or --duration"):
        check_room(soak(records=None), tmp_path)


def test_the_disk_of_the_runs_is_looked_at_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage, brokers, runs = shutil.disk_usage(tmp_path), tmp_path / "brokers", tmp_path / "runs"
    brokers.mkdir()
    runs.mkdir()
    monkeypatch.setattr(disk, "_device", lambda at: at.name)
    monkeypatch.setattr(shutil, "disk_usage", lambda at: usage._replace(free=GB // 10 if at == runs else 100 * GB))
    with pytest.raises(UsageError, match=r"free in .*/runs: ask for at most .* or set --runs-dir to a directory"):
        check_room(soak(records=10**8), brokers, runs)
    assert check_room(soak(records=10**5), brokers, runs).records == 10**5
    with pytest.raises(UsageError, match="TMPDIR"):
        check_room(soak(records=10**9), brokers, runs)


def test_what_is_read_again_needs_room_beside_the_ledger(tmp_path: Path) -> None:
    plain, again = needed_room(soak(records=10**8)), needed_room(soak(records=10**8), cross_check=True)
    assert again.of_run - plain.of_run > 5 * GB
    assert again.of_brokers == plain.of_brokers
    assert "cross-check 6.0 GB" in again.words
    assert check_room(soak(records=1000), tmp_path, cross_check=True).cross_check == 60_000


def test_containers_have_their_logs_and_the_copy_that_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage, asked = shutil.disk_usage(tmp_path), soak(records=10**8)
    free = needed_room(asked).of_brokers * 3 // 2
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=free))
    with pytest.raises(UsageError, match="set Docker's data-root to a directory on a disk that has the room"):
        disk.check_storage(asked, tmp_path / "docker", tmp_path / "copies")
    monkeypatch.setattr(disk, "_device", lambda at: at.name)
    disk.check_storage(asked, tmp_path / "docker", tmp_path / "copies")


def test_so_many_as_it_says_would_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10 * GB))
    with pytest.raises(UsageError) as refused:
        check_room(soak(records=10**9, duration_s=10**5, replicas=1), tmp_path)
    told = str(refused.value)
    fit = int(told.partition("at most ")[2].partition(" ")[0].replace(",", ""))
    assert "(--records or --rate), or set TMPDIR" in told
    assert check_room(soak(records=fit, duration_s=10**5, replicas=1), tmp_path).whole <= 10 * GB
