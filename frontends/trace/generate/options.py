"""Random option settings: most stay as they are, some go up or down by steps that double."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reducekit.frontends.trace.model.definition import Option, OptionModel

_SMALL = 4  # below, steps are of 1


def fuzzed_options(options: OptionModel) -> list[Option]:
    """Return the options that may be set to any value."""
    kept = {name for each in (*options.instead, *options.besides) for name in each.values}
    kept |= options.exclude
    return [option for name, option in options.table.items() if name not in kept]


def random_options(
    options: OptionModel, fuzzed: Sequence[Option], random: Callable[[], float]
) -> list[tuple[str, int]]:
    """Return names and values of options that are to be set, in order; `fuzzed` are all that may.

    `random` returns numbers from 0 to 1, 1 excluded. Presets are taken as they
    are; options that occur in them are not set otherwise.
    """
    for preset in options.instead:
        if random() < preset.probability:
            return list(preset.values.items())
    chosen: dict[str, int] = {}
    for preset in options.besides:
        if random() < preset.probability:
            chosen.update(preset.values)
    low, high = options.touch
    touched = 1 / (low + int(random() * (high - low + 1)))
    for option in fuzzed:
        if random() < touched * options.weights.get(option.name, 1):
            # Without `lowered` no number is drawn for it: seeds go on to give their traces.
            lowered = options.lowered and random() < options.lowered
            moved = _lowered if lowered else _moved
            value = moved(option, options, random)
            if value != option.default:
                chosen[option.name] = value
    return list(chosen.items())


def _moved(option: Option, options: OptionModel, random: Callable[[], float]) -> int:
    """Return a value above or below the default, within the limits for fuzzing."""
    direction = options.fixed_direction.get(option.name) or (1 if random() < 0.5 else -1)
    least, most = options.limits.get(option.name, (option.low, option.high))
    value = option.default
    while True:
        if direction > 0:
            value = value + 1 if value < _SMALL else 2 * value
        else:
            value = 2 * value if value < 0 else value // 2 if value > 1 else value - 1
        if random() < 0.5 or not least < value < most:
            return max(least, min(most, value))


def _lowered(option: Option, options: OptionModel, random: Callable[[], float]) -> int:
    """Return a value a little above the least one: half of them at most 1, a quarter at most 2."""
    least, most = options.limits.get(option.name, (option.low, option.high))
    reach = 1
    while random() < 0.5 and reach < most - least:
        reach *= 2
    return least + int(random() * (min(reach, most - least) + 1))
