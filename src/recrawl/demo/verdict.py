"""What recrawl made of the demo site, held against what the site served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from recrawl.core.visit import Observation, Outcome
from recrawl.demo.site import DemoPage, DemoSite, Served
from recrawl.ports.store import VisitRow

__all__ = ["PageVerdict", "judge"]

_OK, _NOT_MODIFIED = 200, 304
#: Instants are cut to milliseconds on both sides; visits of one page lie much further apart. [ms]
_SLACK = 5


@dataclass(slots=True)
class PageVerdict:
    """How one page was followed.

    ``delays`` holds, for each change detected, the time since the first change that the visits
    before had not seen [s]. ``faults`` says what must not happen, one sentence each.
    """

    page: DemoPage
    n_fetches: int = 0
    n_made: int = 0
    n_detected: int = 0
    n_notmodified: int = 0
    delays: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def mean_delay(self) -> float | None:
        """Mean detection delay [s]; None without a detected change."""
        return sum(self.delays) / len(self.delays) if self.delays else None


def judge(site: DemoSite, page: DemoPage, visits: Sequence[VisitRow], ended_at: int) -> PageVerdict:
    """Return how a page was followed.

    Parameters
    ----------
    site : DemoSite
        The site, with its record of what was served.
    page : DemoPage
        The page.
    visits : sequence of VisitRow
        All its visits.
    ended_at : int
        End of the demo. [ms]
    """
    verdict = PageVerdict(page, n_made=page.version_at(site.elapsed(ended_at)))
    if page.is_disallowed and site.served[page]:
        verdict.faults.append(f"{page.path} was fetched although robots.txt forbids it")
    seen: int | None = None
    for visit in sorted(visits, key=lambda visit: visit.fetched_at):
        served = _served(site.served[page], visit)
        if served is None:
            continue
        verdict.n_fetches += 1
        verdict.n_notmodified += visit.outcome == Outcome.NOTMODIFIED
        if served.status not in (_OK, _NOT_MODIFIED):
            continue
        if seen is not None:
            _compare(site, verdict, visit, seen, served.version)
        seen = served.version
    return verdict


def _served(served: Sequence[Served], visit: VisitRow) -> Served | None:
    """Return what the site served to a visit; None if no request was sent."""
    first, last = visit.fetched_at - _SLACK, visit.fetched_at + visit.elapsed * 1000 + _SLACK
    for answer in served:
        if first <= answer.at <= last:
            return answer
    return None


def _compare(
    site: DemoSite, verdict: PageVerdict, visit: VisitRow, seen: int, version: int
) -> None:
    is_detected = visit.observation == Observation.CHANGED
    at = site.elapsed(visit.fetched_at)
    if is_detected:
        verdict.n_detected += 1
        verdict.delays.append(max(at - verdict.page.changed_at(seen + 1), 0.0))
    if is_detected and version == seen:
        verdict.faults.append(f"{verdict.page.path}: a false change at {at:.1f} s")
    if version != seen and not is_detected:
        verdict.faults.append(f"{verdict.page.path}: a fetch at {at:.1f} s missed a change")
