"""What one load run counts besides Locust's own figures."""

import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path

from locust.stats import RequestStats

from loadtest.questions import Question

#: Faults that the report shows in full, each once.
_SHOWN = 20


@dataclass
class RunState:
    """``turns_wanted`` 0: no end. ``lags_ms`` are how late the generator's own timers fired."""

    turns_wanted: int
    turns_begun: int = 0
    turns_ended: int = 0
    failures: list[str] = field(default_factory=list)
    wrongs: list[str] = field(default_factory=list)
    lags_ms: list[float] = field(default_factory=list)

    def take_turn(self) -> bool:
        """Whether one more turn may begin."""
        if self.turns_wanted and self.turns_begun >= self.turns_wanted:
            return False
        self.turns_begun += 1
        return True

    def ended(self) -> None:
        self.turns_ended += 1

    @property
    def done(self) -> bool:
        """Whether all wanted turns have ended."""
        return bool(self.turns_wanted) and self.turns_ended >= self.turns_wanted

    def failed(self, question: Question, why: str) -> None:
        self.failures.append(f"[{question.kind}] {question.message!r}: {why}")

    def wrong(self, question: Question, complaints: list[str], reply: str) -> None:
        self.wrongs.append(f"[{question.kind}] {question.message!r} -> {reply!r}: {'; '.join(complaints)}")

    def write(self, path: str, stats: RequestStats) -> None:
        """The figures as JSON, for the command that started this run."""
        total = stats.total
        lags = sorted(self.lags_ms) or [0.0]
        report = {
            "turns": total.num_requests,
            "turns_per_s": total.total_rps,
            "mean_ms": total.avg_response_time,
            "p50_ms": total.get_response_time_percentile(0.5),
            "p95_ms": total.get_response_time_percentile(0.95),
            "p99_ms": total.get_response_time_percentile(0.99),
            "failed": len(self.failures),
            "wrong": len(self.wrongs),
            "lag_median_ms": statistics.median(lags),
            "lag_p95_ms": lags[int(0.95 * (len(lags) - 1))],
            "faults": list(dict.fromkeys(self.failures + self.wrongs))[:_SHOWN],
            "kinds": {
                entry.name: {
                    "turns": entry.num_requests,
                    "p50_ms": entry.get_response_time_percentile(0.5),
                    "p95_ms": entry.get_response_time_percentile(0.95),
                }
                for entry in stats.entries.values()
            },
        }
        Path(path).write_text(json.dumps(report, indent=1), encoding="utf-8")
