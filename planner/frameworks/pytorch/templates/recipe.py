## The part of train.py that follows the recipe: the optimizer, its learning rate, clipping, checkpoints.
PEAK = float(os.environ.get("LEARNING_RATE", said(LEARNING_RATE, 3e-4)))
ALL_STEPS = int(os.environ.get("STEPS", said(STEPS, 10)))


def optimizer_of(parameters):
    """Of matrices with weight decay, of biases and norms without, as `plan run` has it."""
    groups = {}  # by mesh too: one update for many tensors wants them alike
    for parameter in parameters:
        mesh = parameter.device_mesh if isinstance(parameter, DTensor) else None
        groups.setdefault((mesh, parameter.dim() > 1), []).append(parameter)
    parameters = [{"params": group} | ({} if decays else {"weight_decay": 0.0}) for (_, decays), group in groups.items()]
    betas = (said(BETA1, 0.9), said(BETA2, 0.999))
    numbers = {"lr": PEAK} | ({} if WEIGHT_DECAY is None else {"weight_decay": WEIGHT_DECAY})
    epsilon = {} if EPSILON is None else {"eps": EPSILON}
    adaptive = {"lr": PEAK} | epsilon  # as published, these have no weight decay
    return {"adamw": lambda: torch.optim.AdamW(parameters, **numbers)}[OPTIMIZER]()  # plumbline: optimizers


from rate_factor import rate_factor  # plumbline: rate_factor


def set_rate(optimizer, step):
    factor = rate_factor(LR_SCHEDULE, said(SCHEDULE_STEPS, ALL_STEPS), said(WARMUP_STEPS, 0),
                         said(FINAL_LEARNING_RATE, 0.0) / PEAK)
    for group in optimizer.param_groups:
        group["lr"] = PEAK * factor(step)


@torch.no_grad()
def clip(chunks, mesh):
    """By the norm of all gradients, those of the other pipeline stages among them. A tied matrix counts once."""
    parameters = [(own_name(name), p) for chunk in chunks for name, p in chunk.named_parameters() if p.grad is not None]
    squares = []
    for name, parameter in parameters:
        if isinstance(parameter.grad, DTensor):  # tensor-parallel ranks may hold parts of a sum
            parameter.grad = parameter.grad.redistribute(placements=parameter.placements)
        if name == HEAD and NETWORK["tied"] and CHUNKS > 1:
            continue
        norm = torch.linalg.vector_norm(parameter.grad.float())
        squares.append((norm.full_tensor() if isinstance(norm, DTensor) else norm).square())
    square = torch.stack(squares).sum()
    dist.all_reduce(square, group=mesh["pp"].get_group())
    factor = CLIP / (square.sqrt().item() + 1e-6)
    for _, parameter in parameters if factor < 1 else []:
        parameter.grad.mul_(factor)


class TrainingState:
    """Checkpoints of all ranks, by torch.distributed.checkpoint: weights and the optimizer's state. The file "last"
    names the newest that is whole."""

    # By parameter, not by its place in the optimizer: every pipeline stage has its own.
    options = StateDictOptions(flatten_optimizer_state_dict=True)

    def __init__(self, chunks, optimizer):
        self.folder = pathlib.Path(said(CHECKPOINT, "checkpoints"))
        self.modules, self.optimizer = nn.ModuleDict(chunks), optimizer

    def state(self):
        model, optimizer = get_state_dict(self.modules, self.optimizer, options=self.options)
        return {"model": model, "optimizer": optimizer}

    def load(self):
        """Steps that are done."""
        last = self.folder / "last"
        if CHECKPOINT_EVERY is None or not last.exists():
            return 0
        step, state = int(last.read_text()), self.state()
        dcp.load(state, checkpoint_id=self.folder / f"step-{step}")
        set_state_dict(self.modules, self.optimizer, model_state_dict=state["model"],
                       optim_state_dict=state["optimizer"], options=self.options)
        return step

    def save(self, step):
        if CHECKPOINT_EVERY is None or (step % CHECKPOINT_EVERY and step != ALL_STEPS):
            return
        dcp.save(self.state(), checkpoint_id=self.folder / f"step-{step}")
        if dist.get_rank() == 0:
            (self.folder / "last.partial").write_text(str(step))
            (self.folder / "last.partial").replace(self.folder / "last")
