"""Failure lines without what varies for one bug: places, times, and what they quote of the input.

Quoted are its names, numbers and terms, which become blanks.

`unknown constant x12` is the same failure for every constant: the pattern is `unknown constant *`,
a pattern in which `*` is any text. A word is quoted if the input has it, unless it is one of those
that messages are made of: scripts have `not` and `sort`, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

ANY = b"*"
_LONGEST = 400  # bytes of a normalised line: some assertions print whole terms

# Words that messages are made of, though inputs have some of them as well.
_COMMON = frozenset(
    b"""
    a able about after all already allowed also an and any are argument arguments arity array as
    assert assertion at bad be because been before begin bit body bool boolean bound bounds but by
    call called can cannot case cast check class clause code command condition conflict constant
    could context core cycle data declaration declared define defined depth did division do does
    double duplicate each element else empty end entry equal error evaluate exceeded exists exit
    expected expression fail failed failure false fatal feature field file find first fixed float
    for found from full function gave get given goal got had handle handled has have if illegal
    implement implemented implies in incompatible inconsistent index infinite input int integer
    internal invalid invariant is it item key kind label large last length less let limit line list
    literal location logic loop loss many map match maximum memory message method minimum
    mismatch missing mode model module more most must N name names negative never new no node
    non none not null number object of on one only operand operation operator option or order out
    output over parameter parse pattern point pointer possible pre problem procedure process proof
    property quantifier query range reached read real reason reference result return rule same sat
    scope search set should size solver some sort source stack state step string such support
    supported symbol syntax T table term terms test than that the then there this time to token too
    true type types unbound undeclared undefined unexpected unknown unsat unsupported use used user
    valid value values variable variables vector violated was were when where which while width
    with within without word write wrong zero
    """.split()
)
_LEVELS = frozenset(
    b"""abort aborted alert and anomaly are bad bug can cannot column could crit critical crash
    emerg emergency err error errors exit exception fail failed failure fatal file for from ftl has
    input internal line main none not null panic root severe status that the this thread unable
    was when while with""".split()
)
"""Words by which no failure is known: all messages have them."""
_WORD = re.compile(rb"\|[^|]{1,200}\||[\w$#@%!?~.-]*\w[\w$#@!?~-]*")
_NUMBER = re.compile(rb"N|T|[-.]?\d[\d.]*")
_PAIRS = {b")"[0]: b"("[0], b"]"[0]: b"["[0], b"}"[0]: b"{"[0]}
_QUOTED = re.compile(
    rb"'([^']{1,300})'|\"([^\"]{1,300})\"|`([^`']{1,300})['`]"
    rb"|\xe2\x80\x98(.{1,300}?)\xe2\x80\x99|\xe2\x80\x9c(.{1,300}?)\xe2\x80\x9d"  # typographic
)
CONDITION = (
    rb"(?i)\bassert(?:ion)?\b(?! failed(?:\. |: [a-z]+ [a-z]+ [a-z]+\b"
    rb"(?!.*(?:[=<>&|]|->|\(\))))).*?(?:fail|violat).*|check failure.*"
)
"""An asserted condition is source text of the program: its numbers and names are not the input's.
Three words and no operator, or what follows a full stop, are a sentence, which may quote the input.
"""
_OF_PROGRAM = re.compile(CONDITION)
# A name in its place is the input's, even if messages are made of it: `variable value is free`.
_NAMED = re.compile(
    rb"\b(?:variable|identifier|symbol|name|constant|function|column|predicate|method|sort|field"
    rb"|types?|node|from|to):? (?!(?:not|is|has|was|error|mismatch|of|in|and|or|with|the|a)\b)"
    rb"(\w+)(?=[,;:)]|$| (?:is|has|was|occurs|does|cannot|in|of|to|after|saw|and|but)\b)"
)
# Nothing but the program, the file and what is quoted: `awk: in.awk: *`.
_SILENT = re.compile(rb"(?:[a-z][a-z0-9+-]*: )?[\w.+-]+\.\w{1,5}: \W*")
_CHUNK = re.compile(rb"[^\s'\"`()\[\]{}]+[^\s'\"`()\[\]{}.,:;]")
_HEAD = re.compile(rb"[\w.:]+\Z")
_SENTENCE = re.compile(rb"[^\n]*?\b[a-z]{2,} [a-z]{2,}\b")
# What is blank becomes one blank with the signs and numbers in between, and the brackets around.
_BLANKS = re.compile(rb"(?:\b[NT]\b[^\w*]*)*\*(?:[^\w*]*(?:\*|\b[NT]\b))+")
_AROUND = re.compile(rb"\(\*\)|\[\*\]|\{\*\}|'\*'|\"\*\"|`\*['`]|\|\*\|")


def without_quotes(line: bytes, text: bytes) -> bytes:
    """Return a normalised failure line with `*` for what it quotes from `text`.

    If no word is left that says what failed, the first one stays that is no name by its looks. If
    there is none and hardly another word, the line stays as it is.
    """
    program = _OF_PROGRAM.search(line)
    own = len(line) if program is None else program.start()
    head, rest = line[:own], line[own:]
    words = [(match, _occurs(match[0], text)) for match in _WORD.finditer(head)]
    if not any(found for _, found in words):
        return line
    blanked = _blanked(head, _quoted_spans(head, words, text))
    if rest or _tells(blanked):
        return blanked + rest
    for at, (match, _) in enumerate(words):
        if match[0].isalpha() and match[0].islower():
            words[at] = (match, False)
            blanked = _blanked(head, _quoted_spans(head, words, text))
            if _tells(blanked):
                return blanked
    return blanked if len(_WORD.findall(blanked)) > 1 else line


def fits(line: bytes, pattern: bytes) -> bool:
    """Return whether a line is the pattern with any text in place of each `*`."""
    line, pattern = line.removesuffix(b"."), pattern.removesuffix(b".")  # with a hint left out
    return line == pattern or (ANY in pattern and _compiled(pattern).fullmatch(line) is not None)


def common(lines: Iterable[bytes], *, known: bool) -> bytes | None:
    """Return the pattern of the lines that one failure printed in several runs.

    Words with digits may differ, such as ids. Lines that are `known` to report a failure are of
    several failures if they differ otherwise: None. Of any others nothing is kept.
    """
    different = {line: line.split() for line in lines}
    rows = list(zip(*different.values(), strict=False))
    if len({len(words) for words in different.values()}) == 1 and all(
        len(set(row)) == 1 or all(re.search(rb"\d", word) for word in row) for row in rows
    ):
        return b" ".join(row[0] if len(set(row)) == 1 else ANY for row in rows)
    return None if known else ANY


@lru_cache(maxsize=64)
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    # What is quoted may be empty, and a line has no blanks in a row, nor at its end.
    # The blank at the end of an `(error "... ")` belongs to what stood before it.
    own = re.escape(pattern).replace(b'\\ "\\)', b'\\ ?"\\)')
    return re.compile(own.replace(b"\\ \\*", b"\\ ?.*").replace(b"\\*", b".*"), re.S)


def _tells(line: bytes) -> bool:
    words = _WORD.findall(line)
    says_something = any(len(w) > 2 and w[:1].isalpha() and w.lower() not in _LEVELS for w in words)
    return says_something and not _SILENT.fullmatch(line)


def _quoted_spans(
    head: bytes, words: list[tuple[re.Match[bytes], bool]], text: bytes
) -> list[tuple[int, int]]:
    spans = [m.span() for m, found in words if found and m[0].lower() not in _COMMON]
    spans += [match.span(1) for match in _NAMED.finditer(head) if _occurs(match[1], text)]
    # All of what stands in quotes, half of a term: a program may have rewritten it.
    quoted = [(*match.span(), 1) for match in _QUOTED.finditer(head)]
    # A line that is one pair of brackets as a whole is no term, nor is a sentence like `(error`.
    groups = [
        (start, end)
        for start, end in _groups(head)
        if (start, end) != (0, len(head)) and not head.startswith((b"(error", b'("', b"('"), start)
    ]
    for start, end, share in [*quoted, *((*span, 2) for span in groups)]:
        inside = [(m[0], found) for m, found in words if start <= m.start() < end]
        numbers = sum(_NUMBER.fullmatch(word) is not None for word, _ in inside)
        known = sum(found for _, found in inside)
        if known and share * (known + numbers) >= len(inside):
            spans.append((start, end))
    # A term as the program prints it, with its head: `leq(X1, f(X1))`, `App { op: Add, .. }`.
    for start, end in groups:
        if _SENTENCE.match(head, start + 1, end) or not any(
            (start <= first and last <= end) or last == start for first, last in spans
        ):
            continue
        braces = head.startswith(b"{", start)
        name = _HEAD.search(head[:start].rstrip() if braces else head[:start])
        with_name = name is not None and (braces or _occurs(name[0], text))
        spans.append((name.start() if name is not None and with_name else start, end))
    # Of words that stick together, as in `seq<int>`, all are quoted.
    spans += [
        chunk.span()
        for chunk in _CHUNK.finditer(head)
        if any(chunk.start() <= start < chunk.end() for start, _ in spans) and chunk[0] in text
    ]
    return spans + _verbatim(head, words, text)


def _verbatim(
    head: bytes, words: list[tuple[re.Match[bytes], bool]], text: bytes
) -> list[tuple[int, int]]:
    """Return where three words or more stand together in the text as well: a piece of code."""
    spans = []
    at = 0
    while at < len(words):
        last = at
        while (
            last + 1 < len(words)
            and words[last + 1][1]
            and head[words[at][0].start() : words[last + 1][0].end()] in text
        ):
            last += 1
        if words[at][1] and last - at >= 2:
            spans.append((words[at][0].start(), words[last][0].end()))
        at = last + 1
    return spans


def _groups(head: bytes) -> list[tuple[int, int]]:
    """Return where brackets open and close; one that is cut off closes at the end."""
    opened: list[int] = []
    found = []
    for at, sign in enumerate(head):
        if sign in _PAIRS.values():
            opened.append(at)
        elif sign in _PAIRS and opened and head[opened[-1]] == _PAIRS[sign]:
            found.append((opened.pop(), at + 1))
    return found + [(start, len(head)) for start in opened]


def _blanked(head: bytes, spans: list[tuple[int, int]]) -> bytes:
    pieces, at = [], 0
    for start, end in sorted(spans):
        if end <= at:
            continue
        pieces += [head[at : max(start, at)], ANY]
        at = end + head.startswith(b";", end)  # a statement ends with it
    line = b"".join([*pieces, head[at:]])
    while True:
        shorter = _AROUND.sub(ANY, _BLANKS.sub(ANY, line))
        if shorter == line:
            return line
        line = shorter


_MANGLED = re.compile(rb"[@!#$~.]+|_\d+$")


def _occurs(word: bytes, text: bytes) -> bool:
    """Return whether a text has a word, not just as part of another."""
    if not word:
        return False
    # `account.balance` has the member of an object, but `3.25` not a number.
    member = len(word) > 2 and word.lower() not in _COMMON and not _NUMBER.fullmatch(word)
    if _as_a_whole(word, b"" if member else b".").search(text) is not None:
        return True
    if word.isupper() and _as_a_whole(word.lower()).search(text) is not None:
        return True  # as Lisp and SQL print names
    # A name that the program made of one: `octet_3`, `T@Ref`, `c:@F@log_event`, `shop.Order.id`.
    parts = [part for part in _MANGLED.split(word) if len(part) > 2 and not part.isdigit()]
    own = [_as_a_whole(part, b"").search(text) for part in parts if part.lower() not in _COMMON]
    return parts != [word] and (any(own) if b"." not in word else len(own) > 1 and all(own))


@lru_cache(maxsize=512)
def _as_a_whole(word: bytes, dot: bytes = b".") -> re.Pattern[bytes]:
    # It begins with the word itself, which is fast to search for in megabytes.
    own, in_names = re.escape(word), rb"[\w%s!?$@#|~-]" % dot
    return re.compile(own + rb"(?<!" + in_names + own + rb")(?!" + in_names + rb")")


# The directories of a path that begins with /, ./, ../ or ~/, or that ends in a file
# name with an extension. `a/b` is not a path.
_PATH = rb"""(?:(?<![\w.>)])(?:~|\.{1,2})?/(?:[^\s/:'"()<>,;`]+/)*(?=[\w.+-])
    |(?<![\w./])(?:[\w.+-]+/)+(?=[\w+-]+\.[A-Za-z]))""".replace(b"\n    ", b"")
_SCRUB: tuple[tuple[re.Pattern[bytes], bytes], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # A formula, as Z3 prints it, is another one for each input; a condition in C++ stays.
        (rb"(?i)(failed to verify:) ?\((?!.*(?:==|!=|&&|\|\||->|::|;))[^\s()]+ .*", rb"\1"),
        (rb"^==\d+==\s*", b""),  # the process id of sanitizers and valgrind
        (rb"\(core dumped\)", b""),
        (rb"(?i)\b(pid|tid|thread|process)([ =:#]+)\d+", rb"\1\2N"),
        # Addresses vary from run to run; but a few digits only are an offset from
        # NULL, which distinguishes one dereference from another.
        (rb"\b0[xX][0-9a-fA-F]{4,}\b", b"0x"),
        (_PATH, b""),
        (rb"^([DIWEFC])(?:\d{4} |, (?=\[))", rb"\1 "),  # F1128 12:00:00, as glog writes
        (rb"\b\d{4}([-/])\d\d\1\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?Z?", b"T"),
        (  # Nov 28, 2026 and 28-Nov-2026
            rb"\b(?:\d\d?-)?(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?"
            rb"|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
            rb"[ -]\d{1,4}(?:, \d{4})?",
            b"T",
        ),
        (rb"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?: [AP]M)?\b", b"T"),
        (rb"\b\d+(?:\.\d+)?[ ]?(?:ms|us|ns|s|sec|secs|seconds|minutes)\b", b"T"),
        (rb"(?i)\b(line|column|col|position|pos|offset|char|character)(:?[ ]?)\d+", rb"\1\2N"),
        # solver.cpp:123:4, input.smt2:1.2-7, in.pvs@4.61--4.79
        (rb"(\.[A-Za-z]\w{0,7})[:@]\d+(?:[.:-]{1,2}\d+)*", rb"\1"),
        # Random ids and hashes: letters mixed with digits; those of Lisp and Erlang.
        (rb"\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b|(?<=\{)[0-9A-F]{8,}(?=\})", b"N"),
        (rb"<\d+\.\d+\.\d+>", b"<N>"),
        (rb"([-=*#_~])\1{3,}", rb"\1\1\1"),  # a ruler, which may be as long as a name lets it
        # There is a suggestion only while the input has a name like it.
        (rb"(?i)[;.,]?\s*\(?\b(?:did you mean|(?:perhaps|maybe) you meant)\b.*", b""),
    )
)
# What a record of a log says, in JSON or as `level=error msg="..."`, without its other fields.
_SAID = re.compile(
    rb'(?i)(?:"(?:msg|message|error|err|reason|exception|detail)" ?: ?'
    rb'|\b(?:msg|err|error|reason)=)"((?:[^"\\]|\\.)+)"'
)
# A number that is not part of a name; kept in conditions, which are source text.
_SINGLE = re.compile(rb"(?:(?<![\w.!$@#])|(?<=\.\.))-?\d+(?:\.\d+)?(?![\w!$@#]|\.\d)")
# Clauses and cubes: as many numbers as the input has.
_NUMBERS = re.compile(rb"\bN(?:,? N\b)+")
_ASSERTED = re.compile(CONDITION + rb"|\bverif(?:y|ied)\b.*")


def normalise(line: bytes) -> bytes:
    """Return a failure line without the parts that vary for the same bug.

    Addresses, process ids, times, directories, lines and columns are removed or replaced, and so
    are single numbers outside asserted conditions.
    """
    line = b" ".join(line[: 10 * _LONGEST].split())
    if (line.startswith(b"{") and line.endswith(b"}")) or b" msg=" in line:
        line = b" ".join(_SAID.findall(line)) or line
    for pattern, replacement in _SCRUB:
        line = pattern.sub(replacement, line)
    condition = _ASSERTED.search(line)
    keep = condition.start() if condition is not None else len(line)
    line = _NUMBERS.sub(b"N", _SINGLE.sub(b"N", line[:keep])) + line[keep:]
    return b" ".join(line.split())[:_LONGEST].rstrip()
