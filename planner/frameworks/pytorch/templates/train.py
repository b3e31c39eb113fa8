## The script in plain PyTorch that `plan export` writes: what a plan says as constants, and below them what is the same
## for every plan. Here: the data, the division over ranks, and the loop.
# PLUMBLINE_TITLE: torchrun ... train.py
from constants import *  # plumbline: constants

from network import *  # plumbline: network


from recipe import *  # plumbline: recipe


def drawn(step, index):
    """64 bits for a step and an index in it, as `plan run` draws them (SplitMix64's finaliser)."""
    def mixed(z):
        z = z + 0x9E3779B97F4A7C15 & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    return mixed(mixed(mixed(RUN_SEED) ^ step) ^ index)


def replica():
    """The data-parallel rank."""
    return dist.get_rank() // TENSOR_PARALLEL % DATA_PARALLEL


def places(step, tokens):
    """Where the step's sequences begin in the data."""
    for micro_batch in range(MICRO_BATCHES):
        first = (micro_batch * DATA_PARALLEL + replica()) * MICRO_BATCH
        for sequence in range(first, first + MICRO_BATCH):
            yield drawn(step, sequence) * (tokens - SEQUENCE_LENGTH) >> 64


def batches(steps, device):
    """Each step's sequences of a data-parallel rank, and the tokens one further: of the file DATA (bytes, or numbers of
    16 or 32 bits where DATA_FORMAT is u16 or u32), or random ones."""
    size = (MICRO_BATCH * MICRO_BATCHES, SEQUENCE_LENGTH + 1)
    path, kind = os.environ.get("DATA"), os.environ.get("DATA_FORMAT", "text")
    if path:
        dtype = {"text": torch.uint8, "u16": torch.uint16, "u32": torch.uint32}[kind]
        count = os.path.getsize(path) // dtype.itemsize
        tokens = torch.from_file(path, size=count, dtype=dtype)
        held_out = int(float(os.environ.get("HELD_OUT", "0.1")) * count)  # at the end, as `plan run` keeps it
        if held_out > SEQUENCE_LENGTH and count - held_out > SEQUENCE_LENGTH:
            count -= held_out
        if count <= SEQUENCE_LENGTH:
            raise SystemExit(f"train.py: {path} has {count} tokens, and a sequence {SEQUENCE_LENGTH}")
    for step in steps:
        torch.manual_seed(drawn(step, replica()))  # of random tokens and dropout: steps behind a restart draw the same
        if path:
            rows = [tokens[place : place + SEQUENCE_LENGTH + 1].long() for place in places(step, count)]
            batch = torch.stack(rows).to(device)
        else:
            batch = torch.randint(0, NETWORK["vocabulary"], size, device=device)
        yield batch[:, :-1], batch[:, 1:]


def loss_of(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def split_tensors(chunk, mesh):
    """Tensor parallelism: columns of the first matrices of a part, rows of its last."""
    inside = Shard(1) if SEQUENCE_PARALLEL else Replicate()
    columns, rows = ColwiseParallel(input_layouts=inside), RowwiseParallel(output_layouts=inside)
    tables = RowwiseParallel(input_layouts=Replicate(), output_layouts=inside)
    by_sequence = SequenceParallel(use_local_output=True)
    plan = {}
    for name, module in chunk.named_modules():
        kind, is_expert = name.rpartition(".")[2], ".experts." in name
        if kind in ("q", "k", "v", "gate", "up") and isinstance(module, nn.Linear):
            plan[name] = ColwiseParallel() if is_expert else columns
        elif name.endswith(("attention.output", ".down")):
            plan[name] = RowwiseParallel() if is_expert else rows
        elif kind in ("q_norm", "k_norm"):
            plan[name] = SequenceParallel(sequence_dim=2, use_local_output=True)
        elif kind in ("embedding", "positions"):
            plan[name] = tables
        elif kind == "head":
            plan[name] = ColwiseParallel(input_layouts=inside, output_layouts=Replicate())
        elif kind in ("norm", "final_norm") and SEQUENCE_PARALLEL:
            plan[name] = by_sequence
        elif kind == "experts" and SEQUENCE_PARALLEL:
            plan[name] = PrepareModuleInputOutput(
                input_layouts=inside, desired_input_layouts=Replicate(), use_local_input=True,
                output_layouts=Replicate(), desired_output_layouts=inside)
    parallelize_module(chunk, mesh, plan)
    chunk.tie()


def recompute(chunk):
    for name, layer in list(chunk.layers.items()):
        if RECOMPUTE_EVERY and int(name) % RECOMPUTE_EVERY == 0:
            chunk.layers[name] = checkpoint_wrapper(layer)


def shard(chunk, mesh):
    """FSDP2 over the shard group, replicated over the others."""
    options = {"mesh": mesh["replicate", "shard"] if DATA_PARALLEL > SHARD_GROUP else mesh["shard"],
               "reshard_after_forward": ZERO_STAGE == 3}
    options["reshard_after_forward"] = SECONDARY_SHARD_GROUP  # plumbline: if reshards_to_group
    if PRECISION == "bf16":
        options["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    layers = list(chunk.layers.values())
    for first in range(0, len(layers), LAYERS_PER_UNIT):
        fully_shard(layers[first : first + LAYERS_PER_UNIT], **options)
    fully_shard(chunk, **options)


def made_chunk(index, mesh, weights, device):
    """A rank's part of a chunk with its weights; nothing is as large as the chunk."""
    with torch.device("meta"):
        chunk = Chunk(index).to(torch.bfloat16 if PRECISION == "bf16-pure" else torch.float32)
    chunk.tie()
    if TENSOR_PARALLEL > 1:
        split_tensors(chunk, mesh["tp"])
    recompute(chunk)
    if ZERO_STAGE > 0:
        shard(chunk, mesh)
    chunk.to_empty(device=device)
    if ZERO_STAGE == 0:
        chunk.tie()
    fill(chunk, weights, device)
    if ZERO_STAGE == 0 and DATA_PARALLEL > 1 and not REDUCES_BEHIND:
        return DistributedDataParallel(chunk, process_group=mesh["replicate"].get_group())
    return chunk


def stages_of(rank):
    """Chunks of a pipeline rank: looped, or a V."""
    if SCHEDULE_IS_V:
        return [rank, CHUNKS - 1 - rank]
    return [rank + i * PIPELINE_STAGES for i in range(VIRTUAL_STAGES)]


def pipeline(chunks, rank, mesh, device):
    group = mesh["pp"].get_group()
    stages = [PipelineStage(chunk, index, CHUNKS, device, group=group) for chunk, index in zip(chunks, stages_of(rank))]
    options = {"n_microbatches": MICRO_BATCHES, "loss_fn": loss_of}
    if SCHEDULE_FILE:
        schedule = _PipelineScheduleRuntime(stages, **options)
        schedule._load_csv(SCHEDULE_FILE)
        return schedule
    kind = get_schedule_class(SCHEDULE)
    return kind(stages if issubclass(kind, PipelineScheduleMulti) else stages[0], **options)


def step_without_pipeline(model, inputs, targets):
    total = 0
    for i, (x, y) in enumerate(zip(inputs.chunk(MICRO_BATCHES), targets.chunk(MICRO_BATCHES))):
        is_last = i + 1 == MICRO_BATCHES
        if ZERO_STAGE >= 2:  # no rank holds whole gradients from one micro-batch to the next
            model.set_requires_all_reduce(is_last)
        elif ZERO_STAGE == 1:
            model.set_requires_gradient_sync(is_last)
        elif isinstance(model, DistributedDataParallel):
            model.require_backward_grad_sync = is_last
        loss = loss_of(model(x), y) / MICRO_BATCHES
        loss.backward()
        total += loss.item()
    return total


@torch.no_grad()
def reduce_gradients(chunks, mesh):
    """The mean over replicas, behind the step: DDP's hooks do not see a backward in two parts, and have one order for
    all chunks of a rank."""
    if not REDUCES_BEHIND:
        return
    works = []
    for parameter in (p for chunk in chunks for p in chunk.parameters()):
        gradient = parameter.grad
        if isinstance(gradient, DTensor):
            parameter.grad = gradient.redistribute(placements=parameter.placements)
            gradient = parameter.grad.to_local()
        works.append(dist.all_reduce(gradient.div_(DATA_PARALLEL), group=mesh["replicate"].get_group(), async_op=True))
    for work in works:
        work.wait()


@torch.no_grad()
def add_tied_gradients(chunks, mesh):
    """Of a tied matrix on the first chunk and on the last: both take the sum."""
    if CHUNKS == 1 or not NETWORK["tied"]:
        return
    own = {own_name(name): p for chunk in chunks for name, p in chunk.named_parameters()}
    ends = [own[name] for name in (EMBEDDING, HEAD) if name in own]
    for parameter in ends:
        if isinstance(parameter, DTensor):
            parameter.grad = parameter.grad.redistribute(placements=parameter.placements)
    gradients = [p.grad.to_local() if isinstance(p, DTensor) else p.grad for p in ends]
    if len(ends) == 2:
        total = gradients[0] + gradients[1]
        for gradient in gradients:
            gradient.copy_(total)
    elif len(ends) == 1:
        ranks = mesh["pp"].mesh.tolist()
        peer = ranks[-1] if EMBEDDING in own else ranks[0]
        other = torch.empty_like(gradients[0])
        for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, gradients[0].contiguous(), peer),
                                            dist.P2POp(dist.irecv, other, peer)]):
            work.wait()
        gradients[0].add_(other)


def mean_loss(loss, mesh, device):
    """Over the ranks that share a global batch."""
    loss = torch.tensor(loss, device=device)
    for name in ("replicate", "shard"):
        dist.all_reduce(loss, group=mesh[name].get_group())
    return loss.item() / DATA_PARALLEL


def main():
    kind = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(kind, int(os.environ["LOCAL_RANK"])) if kind == "cuda" else torch.device(kind)
    if kind == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if kind == "cuda" else "gloo")
    for enable in (torch.backends.cuda.enable_flash_sdp, torch.backends.cuda.enable_mem_efficient_sdp,
                   torch.backends.cuda.enable_cudnn_sdp):
        enable(FLASH_ATTENTION)
    mesh = init_device_mesh(kind, (PIPELINE_STAGES, DATA_PARALLEL // SHARD_GROUP, SHARD_GROUP, TENSOR_PARALLEL),
                            mesh_dim_names=("pp", "replicate", "shard", "tp"))
    rank = mesh["pp"].get_local_rank()
    if STAND_IN and dist.get_rank() == 0:
        print(f"train.py: a stand-in of width {NETWORK['width']} is trained: {STAND_IN}", flush=True)
    weights = PublishedWeights(os.environ["WEIGHTS"]) if os.environ.get("WEIGHTS") else None
    chunks = [made_chunk(index, mesh, weights, device) for index in stages_of(rank)]
    optimizer = optimizer_of([p for chunk in chunks for p in chunk.parameters()])
    training = TrainingState({str(index): chunk for index, chunk in zip(stages_of(rank), chunks)}, optimizer)
    steps = range(training.load(), ALL_STEPS)
    schedule = pipeline(chunks, rank, mesh, device) if PIPELINE_STAGES > 1 else None
    needs_autocast = PRECISION == "bf16" and ZERO_STAGE == 0
    for step, (inputs, targets) in zip(steps, batches(steps, device)):
        with torch.autocast(kind, torch.bfloat16, enabled=needs_autocast):
            if schedule is None:
                loss = step_without_pipeline(chunks[0], inputs, targets)
            else:
                losses = []
                arguments = (inputs,) if 0 in stages_of(rank) else ()
                is_last = CHUNKS - 1 in stages_of(rank)
                schedule.step(*arguments, **({"target": targets, "losses": losses} if is_last else {}))
                loss = sum(one.item() for one in losses) / MICRO_BATCHES if losses else math.nan
        reduce_gradients(chunks, mesh)
        add_tied_gradients(chunks, mesh)
        if CLIP:
            clip(chunks, mesh)
        set_rate(optimizer, step)
        optimizer.step()
        optimizer.zero_grad()
        training.save(step + 1)
        if not math.isnan(loss):
            loss = mean_loss(loss, mesh, device)
            if dist.get_rank() % (DATA_PARALLEL * TENSOR_PARALLEL) == 0:
                print(f"step {step + 1}: loss {loss:.6f}", flush=True)
    if os.environ.get("SAVE"):
        save(chunks, os.environ["SAVE"], mesh)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
