"""Types of the package plumbline. Attributes are the keys of the documented JSON (docs/plan-file.md, docs/cli.md), arguments
of functions the flags of the command; those of the tables of options and axes are written by python/make_stub.py."""
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, overload

__version__: str
__all__: list[str]

_Path = str | os.PathLike[str]
_Files = _Path | Sequence[_Path]
_Count = int | str
_Amount = float | str
_List = str | int | Sequence[object]
_Row = dict[str, Any]
# (step), an object of `plan run --json`, or True for a line on standard error
_Steps = Callable[[Record], object] | bool | None
# (phase, done, total, best_step_time_s), or True for a line on standard error
_Progress = Callable[[str, int, int, float], object] | bool | None

class InputError(ValueError):
    where: str
    what: str
    expected: str
    nearest: str
    def __init__(self, where: str = ..., what: str = ..., expected: str = ..., nearest: str = ...) -> None: ...

class EnvironmentError(OSError): ...
class PlumblineWarning(UserWarning): ...

class Table:
    columns: list[dict[str, Any]]
    def __init__(self, data: dict[str, Any]) -> None: ...
    def __len__(self) -> int: ...
    def to_rows(self) -> list[_Row]: ...
    def _repr_html_(self) -> str: ...

class Record:
    def __init__(self, data: dict[str, Any]) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, key: str) -> Any: ...
    def __contains__(self, key: object) -> bool: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def keys(self) -> Any: ...
    def to_dict(self) -> dict[str, Any]: ...

class _Interval(Record):
    low: float
    expected: float
    high: float

class _Model(Record):
    name: str
    source: str
    parameters: int
    active_parameters: int
    trained_parameters: int
    layers: int
    fingerprint: str
    sample: str

class _Machine(Record):
    name: str
    source: str
    device: str
    devices: int
    devices_per_node: int
    nodes: int
    fingerprint: str

class _Training(Record):
    sequence_length: int
    global_batch: int
    token_budget: int | None
    freeze_embeddings: bool
    frozen_layers: list[Any]
    lora_rank: int

class _Strategy(Record):
    precision: str
    gradient_precision: str
    optimizer: str
    ...  # the keys of its axes

class _Layout(Record):
    stages: list[Record]
    rank_order: list[str]
    groups: Record

class _Prediction(Record):
    step_time_s: _Interval
    tokens_per_s_per_gpu: float
    samples_per_s_per_gpu: float
    mfu: float
    mfu_causal: float
    hfu: float
    peak_memory_bytes: int
    peak_memory_interval_bytes: _Interval
    heaviest_stage: int
    stage_peak_memory_bytes: list[int]
    memory: list[Record]
    memory_totals: list[Record]
    host_memory_per_node_bytes: int
    time: Record
    bubble_fraction: float
    model_flops_per_step: float
    hardware_flops_per_step: float
    dollars_per_step: float
    joules_per_step: float
    communication: list[Record]

class _Run(Record):
    days: float
    gpu_hours: float
    dollars: float
    energy_kwh: float

class _Verdict(Record):
    fits: bool
    reason: str
    capacity_bytes: int
    margin_bytes: int
    near_edge: bool
    headroom_bytes: int
    chance_to_fit: float

class _Provenance(Record):
    program_version: str
    device_calibration: str
    stack_calibration: str
    stack_is_default: bool
    stack_why: str
    trust: Record
    assumed: list[Record]
    notes: list[str]

class _PlanKeys(Record):
    format: str
    model: _Model
    machine: _Machine
    training: _Training
    strategy: _Strategy
    layout: _Layout
    prediction: _Prediction
    run: _Run | None
    verdict: _Verdict
    provenance: _Provenance

class Plan(_PlanKeys):
    format: str
    model: _Model
    machine: _Machine
    training: _Training
    strategy: _Strategy
    layout: _Layout
    prediction: _Prediction
    run: _Run
    verdict: _Verdict
    provenance: _Provenance
    chosen: str
    fits: bool
    reason: str
    step_time_s: _Interval
    peak_memory_bytes: int
    def memory_table(self) -> Table: ...
    def time_table(self) -> Table: ...
    def to_rows(self) -> list[_Row]: ...
    def to_json(self) -> str: ...
    def save(self, path: _Path) -> None: ...
    def _repr_html_(self) -> str: ...

class Change:
    change: str
    plan: Plan

class Fit(Plan):
    offers: Record
    changes: list[Change]
    remedies: list[Change]
    def __bool__(self) -> bool: ...

class _Answer(Record):
    complete: bool
    def to_rows(self) -> list[_Row]: ...
    def to_json(self) -> str: ...
    def _repr_html_(self) -> str: ...

class Search(_Answer):
    format: str
    question: Record
    considered: int
    rejected: Record
    solved: int
    unvisited: int
    refined: int
    plans: list[Plan]
    alike: list[list[Record]]
    standing: Record | None
    pareto: list[Record]
    complete: bool
    nearest_miss: Plan | None
    framework: Record
    best_of_others: list[Record]
    next_stack: Record | None
    best: Plan | None
    def __iter__(self) -> Iterator[Plan]: ...
    def __getitem__(self, place: int | slice | str) -> Any: ...
    def pareto_table(self) -> Table: ...

class FitLimits(_Answer):
    format: str
    question: Record
    limits: list[Record]
    complete: bool
    plans: list[Plan | None]

class Explanation(_Answer):
    plan: _PlanKeys
    bottleneck: str
    changes: list[Record]
    assumed: list[Record]
    def time_table(self) -> Table: ...
    def assumed_table(self) -> Table: ...
    def against_table(self) -> Table | None: ...

class Simulation(_Answer):
    step_time_s: float
    bubble_fraction: float
    exposed_communication_s: float
    time: Record
    peak_memory_bytes: int
    stage_peak_memory_bytes: list[int]
    stage_idle_s: list[float]
    busiest_stage: int
    heaviest_stage: int
    actions: int
    micro_batches_left_out: int
    schedule: str
    closed_form_step_time_s: float
    order_csv: str | None
    stage_speed: list[float] | None
    step_time_at_speed_1_s: float | None
    peak: Record
    stages: list[Record]

class Size(_Answer):
    format: str
    question: Record
    assumptions: list[Record]
    rows: list[Record]
    least: int | None
    nearest: int | None
    complete: bool
    plans: list[Plan | None]

class Comparison(_Answer):
    step_time_s: Record
    memory: list[Record]
    communication: list[Record]
    def memory_table(self) -> Table: ...
    def communication_table(self) -> Table: ...
    def device_memory_table(self) -> Table | None: ...

class Validation(_Answer):
    format: str
    summary: Record
    by_source: Record
    rows: list[Record]
    skipped: list[Record]
    def memory_table(self) -> Table: ...
    def furthest_table(self) -> Table: ...
    def skipped_table(self) -> Table: ...

class Run(_Answer):
    format: str
    program_version: str
    plan_fingerprint: str
    model: str
    model_fingerprint: str
    machine: str
    backend: str
    transport: str
    seed: int
    tokens_per_step: int
    warmup_steps: int
    traced_step: int | None
    optimizer: Record
    text: Record
    steps: list[Record]
    ranks: list[Record]
    losses: list[float]
    def save(self, path: _Path) -> None: ...

class Calibration(_Answer):
    format: str
    like: str
    device: str
    rows: list[Record]
    numbers: list[Record]
    mean_error: Record
    left_out_by: str
    sigma: float
    warnings: list[str]
    stack: Record
    def numbers_table(self) -> Table: ...
    def save(self, path: _Path) -> None: ...

class Imported(_Answer):
    format: str
    target: str
    flags: list[str]
    network: Record | None
    not_modelled: list[str]
    assumed: list[str]
    ignored_flags: int
    arguments: dict[str, str]

class Exported:
    title: str
    release: str
    files: dict[str, str]
    substitutions: list[Record]
    not_said: list[str]
    assumptions: list[str]
    nearest: Plan | None
    def to_rows(self) -> list[_Row]: ...
    def _repr_html_(self) -> str: ...
    def write(self, folder: _Path) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...

class Catalogue:
    def __iter__(self) -> Iterator[Record]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, place: int) -> Record: ...
    def to_list(self) -> list[dict[str, Any]]: ...
    def to_rows(self) -> list[_Row]: ...
    def _repr_html_(self) -> str: ...

class Entry(_Answer): ...

def estimate(*, plan: Plan | _Path | None = ..., import_: _Files | None = ..., **arguments: Any) -> Plan: ...
def fit(*, plan: Plan | _Path | None = ..., import_: _Files | None = ..., **arguments: Any) -> Fit: ...
def fit_limits(*, progress: _Progress = ..., **arguments: Any) -> FitLimits: ...
def search(*, progress: _Progress = ..., **arguments: Any) -> Search: ...
def size(*, progress: _Progress = ..., **arguments: Any) -> Size: ...
def explain(*, plan: Plan | _Path | None = ..., import_: _Files | None = ..., against: Plan | _Path | None = ...,
    progress: _Progress = ..., **arguments: Any) -> Explanation: ...
def simulate(*, plan: Plan | _Path | None = ..., import_: _Files | None = ..., progress: _Progress = ..., **arguments: Any) -> Simulation: ...
def import_files(*files: _Path, **arguments: Any) -> Imported: ...
def validate(*files: _Path, progress: _Progress = ..., **arguments: Any) -> Validation: ...
def calibrate(*files: _Path, progress: _Progress = ..., **arguments: Any) -> Calibration: ...
def run(plan: Plan | _Path, *, progress: _Steps = ..., **arguments: Any) -> Run: ...
def export(plan: Plan | _Path, *, to: str, release: str = ..., strict: bool = ...) -> Exported: ...
def compare(plan: Plan | _Path, measured: _Path) -> Comparison: ...
@overload
def models(name: None = ...) -> Catalogue: ...
@overload
def models(name: _Path) -> Entry: ...
@overload
def machines(name: None = ...) -> Catalogue: ...
@overload
def machines(name: _Path) -> Entry: ...
@overload
def stacks(name: None = ...) -> Catalogue: ...
@overload
def stacks(name: _Path) -> Entry: ...
