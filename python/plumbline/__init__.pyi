"""Types of the package plumbline. Attributes are the keys of the documented JSON (docs/plan-file.md, docs/cli.md)."""
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
# (phase, done, total, best_step_time_s), or True for a line on standard error
_Progress = Callable[[str, int, int, float], object] | bool | None

class InputError(ValueError):
    where: str
    what: str
    expected: str
    nearest: str
    def __init__(self, where: str = ..., what: str = ..., expected: str = ..., nearest: str = ...) -> None: ...

class EnvironmentError(OSError): ...
class Remark(UserWarning): ...

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
    data_parallel: int
    tensor_parallel: int
    sequence_parallel: bool
    pipeline_stages: int
    virtual_stages: int
    context_parallel: int
    expert_parallel: int
    expert_tensor_parallel: int
    zero_stage: int
    shard_group: int
    schedule: str
    micro_batch: int
    micro_batches: int
    recompute: str
    split: str
    layers_per_stage: list[int] | None
    precision: str
    gradient_precision: str
    optimizer: str
    flash_attention: bool

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

def estimate(*, plan: Plan | _Path | None = ..., import_: _Files | None = ...,
    from_: str | None = ..., model: _Path | None = ..., dim: str | Mapping[str, int] | None = ...,
    machine: _Path | None = ..., gpus: _Count | None = ...,
    seq_len: _Count | None = ..., global_batch: _Count | None = ..., tokens: _Amount | None = ...,
    samples: _Amount | None = ..., price: _Amount | None = ..., precision: str | None = ...,
    gradient_precision: str | None = ..., optimizer_precision: str | None = ..., optimizer: str | None = ...,
    freeze: _List | None = ..., lora_rank: _Count | None = ..., lora_targets: str | None = ...,
    stack: _Path | None = ..., loss: str | None = ..., overlap: str | None = ...,
    headroom: _Amount | None = ..., tp_across_nodes: bool | None = ..., tp: _Count | None = ...,
    pp: _Count | None = ..., dp: _Count | None = ..., cp: _Count | None = ..., cp_comm: str | None = ..., ep: _Count | None = ...,
    etp: _Count | None = ..., virtual_stages: _Count | None = ..., zero: _Count | None = ...,
    shard_group: _Count | None = ..., schedule: str | None = ..., micro_batch: _Count | None = ...,
    recompute: str | None = ..., split: str | None = ..., layers_per_stage: _List | None = ...,
    sequence_parallel: bool | None = ..., flash_attention: bool | None = ..., prefetch: bool | None = ..., layers_per_unit: _Count | None = ...,
) -> Plan: ...
def fit(*, plan: Plan | _Path | None = ..., import_: _Files | None = ...,
    from_: str | None = ..., for_: str | None = ..., model: _Path | None = ..., dim: str | Mapping[str, int] | None = ...,
    machine: _Path | None = ..., gpus: _Count | None = ...,
    seq_len: _Count | None = ..., global_batch: _Count | None = ..., tokens: _Amount | None = ...,
    samples: _Amount | None = ..., price: _Amount | None = ..., precision: str | None = ...,
    gradient_precision: str | None = ..., optimizer_precision: str | None = ..., optimizer: str | None = ...,
    freeze: _List | None = ..., lora_rank: _Count | None = ..., lora_targets: str | None = ...,
    stack: _Path | None = ..., loss: str | None = ..., overlap: str | None = ...,
    headroom: _Amount | None = ..., tp_across_nodes: bool | None = ..., tp: _Count | None = ...,
    pp: _Count | None = ..., dp: _Count | None = ..., cp: _Count | None = ..., cp_comm: str | None = ..., ep: _Count | None = ...,
    etp: _Count | None = ..., virtual_stages: _Count | None = ..., zero: _Count | None = ...,
    shard_group: _Count | None = ..., schedule: str | None = ..., micro_batch: _Count | None = ...,
    recompute: str | None = ..., split: str | None = ..., layers_per_stage: _List | None = ...,
    sequence_parallel: bool | None = ..., flash_attention: bool | None = ..., prefetch: bool | None = ..., layers_per_unit: _Count | None = ...,
) -> Fit: ...
def fit_limits(*, progress: _Progress = ...,
    model: _Path | None = ..., dim: str | Mapping[str, int] | None = ...,
    machine: _Path | None = ..., gpus: _Count | None = ..., seq_len: _Count | None = ...,
    global_batch: _Count | None = ..., tokens: _Amount | None = ..., samples: _Amount | None = ...,
    price: _Amount | None = ..., precision: str | None = ..., gradient_precision: str | None = ...,
    optimizer_precision: str | None = ..., optimizer: str | None = ..., freeze: _List | None = ...,
    lora_rank: _Count | None = ..., lora_targets: str | None = ...,
    stack: _Path | None = ..., loss: str | None = ..., overlap: str | None = ..., headroom: _Amount | None = ...,
    tp_across_nodes: bool | None = ..., tp: _Count | None = ..., pp: _Count | None = ..., dp: _Count | None = ...,
    cp: _Count | None = ..., cp_comm: str | None = ..., ep: _Count | None = ..., etp: _Count | None = ..., virtual_stages: _Count | None = ...,
    zero: _Count | None = ..., shard_group: _Count | None = ..., schedule: str | None = ...,
    micro_batch: _Count | None = ..., recompute: str | None = ..., split: str | None = ...,
    layers_per_stage: _List | None = ..., sequence_parallel: bool | None = ...,
    flash_attention: bool | None = ..., prefetch: bool | None = ..., layers_per_unit: _Count | None = ...,
    family: str | None = ...,
) -> FitLimits: ...
def search(*, progress: _Progress = ...,
    model: _Path | Sequence[_Path] | None = ..., dim: str | Mapping[str, int] | None = ...,
    machine: _Path | Sequence[_Path] | None = ..., gpus: _List | None = ..., seq_len: _List | None = ...,
    global_batch: _List | None = ..., tokens: _Amount | None = ..., samples: _Amount | None = ...,
    price: _Amount | None = ..., precision: _List | None = ..., gradient_precision: str | None = ...,
    optimizer_precision: str | None = ..., optimizer: _List | None = ..., freeze: _List | None = ...,
    lora_rank: _List | None = ..., lora_targets: str | None = ...,
    stack: _Path | Sequence[_Path] | None = ..., loss: str | None = ..., overlap: str | None = ..., headroom: _Amount | None = ...,
    tp_across_nodes: bool | None = ..., fix: str | Mapping[str, object] | None = ...,
    flash_attention: bool | _List | None = ..., for_: str | None = ..., executable: bool | None = ...,
    split: str | None = ..., threads: _Count | None = ..., time_limit: str | None = ..., objective: str | None = ...,
    top: _Count | None = ..., all: bool | None = ..., pareto: bool | None = ...,
) -> Search: ...
def size(*, progress: _Progress = ...,
    model: _Path | None = ..., dim: str | Mapping[str, int] | None = ...,
    machine: _Path | None = ..., gpus: _List | None = ..., seq_len: _Count | None = ...,
    global_batch: _Count | None = ..., tokens: _Amount | None = ..., samples: _Amount | None = ...,
    price: _Amount | None = ..., precision: _List | None = ..., gradient_precision: str | None = ...,
    optimizer_precision: str | None = ..., optimizer: _List | None = ..., freeze: _List | None = ...,
    lora_rank: _List | None = ..., lora_targets: str | None = ...,
    stack: _Path | None = ..., loss: str | None = ..., overlap: str | None = ..., headroom: _Amount | None = ...,
    tp_across_nodes: bool | None = ..., fix: str | Mapping[str, object] | None = ...,
    flash_attention: bool | _List | None = ..., for_: str | None = ..., executable: bool | None = ...,
    split: str | None = ..., threads: _Count | None = ..., time_limit: str | None = ..., days: _Amount | None = ...,
    budget: _Amount | None = ..., scaling: str | None = ..., pue: _Amount | None = ..., grid: _Amount | None = ...,
) -> Size: ...
def explain(*, plan: Plan | _Path | None = ..., import_: _Files | None = ..., against: Plan | _Path | None = ...,
    progress: _Progress = ...,
    from_: str | None = ..., model: _Path | None = ..., dim: str | Mapping[str, int] | None = ...,
    machine: _Path | None = ..., gpus: _Count | None = ...,
    seq_len: _Count | None = ..., global_batch: _Count | None = ..., tokens: _Amount | None = ...,
    samples: _Amount | None = ..., price: _Amount | None = ..., precision: str | None = ...,
    gradient_precision: str | None = ..., optimizer_precision: str | None = ..., optimizer: str | None = ...,
    freeze: _List | None = ..., lora_rank: _Count | None = ..., lora_targets: str | None = ...,
    stack: _Path | None = ..., loss: str | None = ..., overlap: str | None = ...,
    headroom: _Amount | None = ..., tp_across_nodes: bool | None = ..., tp: _Count | None = ...,
    pp: _Count | None = ..., dp: _Count | None = ..., cp: _Count | None = ..., cp_comm: str | None = ..., ep: _Count | None = ...,
    etp: _Count | None = ..., virtual_stages: _Count | None = ..., zero: _Count | None = ...,
    shard_group: _Count | None = ..., schedule: str | None = ..., micro_batch: _Count | None = ...,
    recompute: str | None = ..., split: str | None = ..., layers_per_stage: _List | None = ...,
    sequence_parallel: bool | None = ..., flash_attention: bool | None = ..., prefetch: bool | None = ..., layers_per_unit: _Count | None = ...,
) -> Explanation: ...
def simulate(*, plan: Plan | _Path | None = ..., import_: _Files | None = ..., progress: _Progress = ...,
    from_: str | None = ..., model: _Path | None = ..., dim: str | Mapping[str, int] | None = ...,
    machine: _Path | None = ..., gpus: _Count | None = ...,
    seq_len: _Count | None = ..., global_batch: _Count | None = ..., tokens: _Amount | None = ...,
    samples: _Amount | None = ..., price: _Amount | None = ..., precision: str | None = ...,
    gradient_precision: str | None = ..., optimizer_precision: str | None = ..., optimizer: str | None = ...,
    freeze: _List | None = ..., lora_rank: _Count | None = ..., lora_targets: str | None = ...,
    stack: _Path | None = ..., loss: str | None = ..., overlap: str | None = ...,
    headroom: _Amount | None = ..., tp_across_nodes: bool | None = ..., tp: _Count | None = ...,
    pp: _Count | None = ..., dp: _Count | None = ..., cp: _Count | None = ..., cp_comm: str | None = ..., ep: _Count | None = ...,
    etp: _Count | None = ..., virtual_stages: _Count | None = ..., zero: _Count | None = ...,
    shard_group: _Count | None = ..., schedule: str | None = ..., micro_batch: _Count | None = ...,
    recompute: str | None = ..., split: str | None = ..., layers_per_stage: _List | None = ...,
    sequence_parallel: bool | None = ..., flash_attention: bool | None = ..., prefetch: bool | None = ..., layers_per_unit: _Count | None = ..., order_csv: _Path | None = ...,
    stage_speed: str | Mapping[int, float] | None = ..., by_block: bool | None = ...,
) -> Simulation: ...
def import_files(*files: _Path,
    from_: str | None = ..., model: _Path | None = ..., dim: str | Mapping[str, int] | None = ...,
    machine: _Path | None = ..., gpus: _Count | None = ...,
    seq_len: _Count | None = ..., global_batch: _Count | None = ..., tokens: _Amount | None = ...,
    samples: _Amount | None = ..., price: _Amount | None = ..., precision: str | None = ...,
    gradient_precision: str | None = ..., optimizer_precision: str | None = ..., optimizer: str | None = ...,
    freeze: _List | None = ..., lora_rank: _Count | None = ..., lora_targets: str | None = ...,
    stack: _Path | None = ..., loss: str | None = ..., overlap: str | None = ...,
    headroom: _Amount | None = ..., tp_across_nodes: bool | None = ...,
) -> Imported: ...
def validate(*files: _Path, progress: _Progress = ..., device: _List | None = ..., source: _List | None = ...,
) -> Validation: ...
def calibrate(*files: _Path, progress: _Progress = ..., device: str | None = ..., stack: _Path | None = ...,
    like: _Path | None = ..., name: str | None = ...,
) -> Calibration: ...
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
