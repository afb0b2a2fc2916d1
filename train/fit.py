"""Training: exercises from worker processes into one GPU (or, for trials, the CPU) until the time is up."""

from __future__ import annotations

import itertools
import queue
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from train import mix, progress, validation, weights
from train.model import LONGEST, Model
from train.packing import IGNORED, Row, batch
from train.plan import Plan
from train.shape import Shape
from train.unseen import prepare
from train.workers import Workers

_LOG_EVERY_S = 10.0
_UNCOUNTED_STEPS = 3  # of each part: compilation, and the first queues
_CLOSING_S = 25.0  # for the last validation and the files of a part
_BATCHES_AHEAD = 4


def fit(plan: Plan, shape: Shape) -> None:
    """Run one part.

    Raises:
        FileExistsError: there is a checkpoint and ``plan.resume`` is not set.
        FileNotFoundError: there is none and it is.
    """
    run = _Run(plan, shape)
    with Workers(plan, part=run.done.parts, longest=run.longest) as workers:
        run.learn(workers)
        run.close()


class _Run:
    """One part of a run."""

    def __init__(self, plan: Plan, shape: Shape) -> None:
        self.began = time.monotonic()
        torch.manual_seed(plan.seed)
        torch.set_float32_matmul_precision("high")
        self.plan, self.shape = plan, shape
        self.longest = min(LONGEST, plan.row_tokens)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model: Any = Model(shape).to(self.device)
        self.optimizer: Any = _optimizer(self.model, plan, self.device)
        self.figures: tuple[Tensor, ...] = ()  # of the last step
        self.done = self._take_up()
        self.before_s = self.done.wall_s
        self.done.parts += 1
        self.done.commands.append(shlex.join(["python", "-m", "train", *sys.argv[1:]]))
        self.log = progress.Log(plan.out, fresh=not plan.resume)
        sets = [(plan.seed, plan.validation_items), (plan.seed + 1, 2 * plan.validation_items)]
        self.documents, self.last_documents = prepare(plan, sets, self.longest)
        self.log.write("begin", part=self.done.parts, device=self._device_name(), parameters=shape.parameters)

    def learn(self, workers: Workers) -> None:
        """Steps until the budget or the time of this command is used up."""
        if self.done.accuracy:
            self._draw_what_is_needed(workers)
        losses = _losses(self.model, self.plan, self.device)
        batches = _batches(workers.rows(), self.plan, self.device)
        validated_s = logged_s = self.done.learned_s
        last, waited_s = time.monotonic(), 0.0
        for number in itertools.count():
            if self._over():
                break
            asked = time.monotonic()
            tensors = next(batches)
            waited_s += time.monotonic() - asked
            self.figures = self._step(losses, tensors)
            if number < _UNCOUNTED_STEPS:
                self._wait_for_device()
                last, waited_s = time.monotonic(), 0.0
                continue
            now = time.monotonic()
            self.done.learned_s += now - last
            last = now
            if self.done.learned_s - logged_s >= _LOG_EVERY_S:
                logged_s = self.done.learned_s
                self._tell(waited_s)
            if self.done.learned_s - validated_s >= self.plan.validate_every_s:
                validated_s = self.done.learned_s
                self._validate(workers)
                last = time.monotonic()
        if self.figures:
            self.done.loss = float(self.figures[0])

    def close(self) -> None:
        """The last validation of the part, on exercises of its own, and the files."""
        self.done.accuracy = validation.measure(self.model, self.last_documents, self.device)
        sys.stdout.write(validation.table(self.done.accuracy) + "\n")
        self._keep()
        weights.save(weights.named(self.model.state_dict(), self.shape), self.plan.out)
        progress.record(self.plan, self.shape, self.done, device=self._device_name())
        done = self.done
        self.log.write("end", steps=done.steps, tokens=done.tokens, learned_s=done.learned_s, loss=done.loss)

    def _validate(self, workers: Workers) -> None:
        self._wait_for_device()
        self.done.accuracy = validation.measure(self.model, self.documents, self.device)
        self.log.write("validation", learned_s=self.done.learned_s, accuracy=self.done.accuracy)
        self._draw_what_is_needed(workers)
        self._keep()

    def _draw_what_is_needed(self, workers: Workers) -> None:
        weights_now = mix.adapted(workers.families, validation.worst(self.done.accuracy))
        workers.weigh(weights_now)
        self.log.write("mix", **{f: round(w, 2) for f, w in zip(workers.families, weights_now, strict=True)})

    def _keep(self) -> None:
        self.done.wall_s = self.before_s + time.monotonic() - self.began
        progress.keep(self.plan.checkpoint, self.done, self.model, self.optimizer)

    def _take_up(self) -> progress.Progress:
        if self.plan.resume:
            return progress.take_up(self.plan.checkpoint, self.model, self.optimizer, self.device)
        progress.refuse_to_overwrite(self.plan.checkpoint)
        if self.plan.start is not None:
            self.model.load_state_dict(weights.state(weights.load(self.plan.start), self.shape))
        return progress.Progress()

    def _over(self) -> bool:
        steps = self.plan.most_steps
        return (
            self.done.learned_s >= self.plan.budget_s
            or (steps is not None and self.done.steps >= steps)
            or time.monotonic() - self.began >= self.plan.part_s - _CLOSING_S
        )

    def _step(self, losses: Callable[..., tuple[Tensor, ...]], tensors: list[Tensor]) -> tuple[Tensor, ...]:
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.rate(self.done.learned_s)
        total, *figures = losses(*tensors)
        total.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.plan.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.done.steps += 1
        self.done.tokens += self.plan.step_tokens
        return (*figures, norm)

    def _tell(self, waited_s: float) -> None:
        loss, right, imbalance, norm = map(float, self.figures)
        self.log.write(
            "step",
            step=self.done.steps,
            learned_s=self.done.learned_s,
            tokens=self.done.tokens,
            loss=loss,
            right=right,
            imbalance=imbalance,
            norm=norm,
            rate=self.plan.rate(self.done.learned_s),
            waited_s=waited_s,
        )

    def _wait_for_device(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()

    def _device_name(self) -> str:
        return str(torch.cuda.get_device_name()) if self.device == "cuda" else "CPU"


def _optimizer(model: Any, plan: Plan, device: str) -> Any:
    """AdamW; only matrices decay, and of these neither the embedding nor the routers."""
    matrices: list[Tensor] = []
    others: list[Tensor] = []
    for name, parameter in model.named_parameters():
        decays = parameter.ndim == 2 and name != "embedding" and not name.endswith("router")
        (matrices if decays else others).append(parameter)
    groups = [{"params": matrices, "weight_decay": plan.weight_decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=plan.learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=device == "cuda")


def _losses(model: Any, plan: Plan, device: str) -> Callable[..., tuple[Tensor, ...]]:
    """The loss of a batch, and beside it for the log: cross-entropy, share of right tokens, loss of balance."""

    def losses(ids: Tensor, positions: Tensor, starts: Tensor, wanted: Tensor, targets: Tensor) -> tuple[Tensor, ...]:
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            logits, imbalance = model(ids, positions, starts, wanted)
        logits = logits.float()
        loss = functional.cross_entropy(logits, targets, ignore_index=IGNORED)
        right = (logits.argmax(-1) == targets).sum() / (targets != IGNORED).sum()
        return loss + plan.balance * imbalance, loss.detach(), right, imbalance.detach()

    compiled: Callable[..., tuple[Tensor, ...]] = (
        torch.compile(losses) if plan.compiled and device == "cuda" else losses
    )
    return compiled


def _batches(rows: Iterator[Row], plan: Plan, device: str) -> Iterator[list[Tensor]]:
    """Batches on the device, made a few ahead by a thread."""
    ready: queue.Queue[list[Tensor] | Exception] = queue.Queue(_BATCHES_AHEAD)

    def make() -> None:
        try:
            while True:
                arrays = batch([next(rows) for _ in range(plan.rows)]).arrays
                tensors = [torch.from_numpy(array) for array in arrays]
                ready.put([tensor.pin_memory() for tensor in tensors] if device == "cuda" else tensors)
        except Exception as error:  # noqa: BLE001 - raised again where the batch is asked for
            ready.put(error)

    threading.Thread(target=make, daemon=True).start()
    while True:
        made = ready.get()
        if isinstance(made, Exception):
            raise made
        tensors = [tensor.to(device, non_blocking=True) for tensor in made]
        if device == "cuda":
            torch._dynamo.mark_dynamic(tensors[2], 0)  # the number of documents varies, nothing else does
        yield tensors
