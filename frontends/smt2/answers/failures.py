"""Which failures of solvers count, and how to tell apart those without a place in the code.

A solver may say that it need not accept a script. Failures with different causes leave different
operators in their reduced scripts.
"""

from __future__ import annotations

import re

from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.script import Script, analyse
from reducekit.frontends.smt2.language.sorts import family
from reducekit.frontends.smt2.language.view import subterms

_LACKING = re.compile(
    r"""\bunknown\s(?:[\w/-]+\s){0,3}?(?:function|constant|sort|symbol|parameter|option|tactic|probe
        |command|logic|identifier|operator|type|keyword|attribute)
    | \b(?:not|un)[ -]?(?:yet[ ]|currently[ ])?supported\b
    | \b(?:does|do|can)[ ]?not[ ](?:yet[ ]|currently[ ])?(?:support|handle|work[ ]in)\b
    | \b(?:not|un)[ -]?(?:declared[ ]as|recogni[sz]ed|implemented|allowed[ ]in)\b
    | \b(?:requires?|needs?)[ ]the[ ]logic\b | \bin[ ](?:this|the[ ]current|a[ ]linear)[ ]logic\b
    | \bto[ ]be[ ]compiled[ ]with\b | \b(?:not|without)[ ](?:been[ ])?(?:built|compiled)[ ]with\b
    | \b(?:try|use|using|with|enable)[ ]--[a-z] | --\w+-exp\b
    | \bexpected[ ](?:SMT-LIBv2[ ])?command\b | \bis[ ]shadowing[ ]a[ ]theory\b
    | \binvalid[ ](?:option|tactic|parameter)\b | \bin[ ]option[ ]parsing\b
    | \b(?:unless|when|if)\b.{0,60}\b(?:enabled|incremental(?:ly)?|mode)\b
    | \b(?:model|core|proof|assumptions|construction)[ ](?:is|are)[ ]not[ ](?:available|enabled)\b
    | \bcannot[ ]get[ ](?:\w+[ ]){1,3}unless\b | \bthe[ ]context[ ]is[ ](?:un)?satisfiable\b
    | \bcan't[ ]have[ ]both\b | \bundefined[ ]term:[ ](?:[us]?bv|int_to)  # Yices
    | \bexpecting[ ]the[ ]first[ ]constant\b  # cvc4 wants the letters of re.range in order
    | \btactic[ ]failed:[ ](?:Uninterpreted|recursive[ ]predicate|Rule[ ]contains[ ]negative)\b
      # z3 tried its Horn solver on what are no Horn clauses
    | \bnot[ ]correspond[ ]to[ ]a[ ]supported\b
    | \binvalid[ ]indexed[ ]identifier,[ ]integer\b  # (_ char #x0), which z3 4.8.5 does not know
    | \bexpected[ ]values?[ ]for[ ]parameter\b | \blegal[ ]values[ ]are\b
    | \bdid[ ]not[ ]parse[ ]as\b
    | \binvalid[ ](?:\w+[ ]){1,3}(?:heuristic|strategy|solver:)  # the value of an option of z3
    | \billegal[ ](?:\w+[ ]){1,3}numeral\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A program lacks an operator, a theory, an option or a mode, or an answer has no model or core."""
_DECLINED = re.compile(
    r"""\bunknown\b | \bundeclared\b | \b(?:parse|syntax|sort|type)[ ](?:error|mismatch)
    | \bdo(?:es)?[ ]not[ ]match\b | \bmismatch(?:es)?\b | \bnot[ ](?:co-variant|well-founded)\b
    | \binvalid[ ](?:\S+[ ]){0,2}(?:command|declaration|definition|reference|argument
        |use|name|binding|value|symbol|sort|variable)s?\b
    | \b(?:only[ ]|not[ ])available\b | \bcannot[ ](?:run|make|push|pop|get)\b
    | \bexpect(?:s|ed|ing)\b | \bmust[ ](?:be|have|not)\b | \bnot[ ]allowed\b
    | \balready[ ](?:declared|defined|set|used)\b | \bmissing\b | \bwrong[ ]number\b
    | \bunexpected[ ](?:token|character|end)\b | \bcannot[ ]be[ ]modified[ ]after\b
    | \bundefined[ ](?:term|sort|identifier|symbol)\b | \bcan't[ ]redefine\b | \bno[ ]logic[ ]set\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A program finds a script ill-formed, or in a state in which a command has no answer."""
_CONNECTIVES = frozenset(b"not and or xor => let ! true false".split())
"""They hold the rest together, and vary with the way a reduction went."""
_RELATIONS = frozenset(
    b"= distinct ite < <= > >= bvult bvule bvugt bvuge bvslt bvsle bvsgt bvsge"
    b" fp.eq fp.lt fp.leq fp.gt fp.geq str.< str.<=".split()
)
"""They compare what other operators make."""
_POLYMORPHIC = _RELATIONS | frozenset(b"select store".split())
_USUAL = (
    b"set-logic", b"set-option", b"set-info", b"assert", b"check-sat", b"check-sat-assuming",
    b"push", b"pop", b"exit",
)  # fmt: skip


def rejects(line: str, *, well_formed: bool) -> bool:
    """Return whether the failure line of a run says that a program need not accept its input.

    What is `well_formed`, such as an input of our generator, may be rejected only for what the
    program lacks; anything else, such as a file of a user, also by its rules.
    """
    if _LACKING.search(line) is not None:
        return True
    return not well_formed and _DECLINED.search(line) is not None


def skeleton(text: bytes) -> str:
    """Return the operators of a script with their sorts, and its unusual commands, in one line.

    Of the kinds of operators only the one that says most counts: functions of theories, otherwise
    quantifiers and relations with the sorts that they relate. Raises ParseError.
    """
    script = analyse(parse(text))
    functions: set[str] = set()
    relations: set[str] = set()
    for node in filter(script.is_term.__getitem__, range(1, len(script.document))):
        name = _operator(script, node)
        if name is not None and name not in _CONNECTIVES:
            shown = name.decode(errors="replace")
            if name in _POLYMORPHIC:
                found = (script.sort[each] for each in subterms(script, node))
                sorts = {"" if each is None else family(each) for each in found}
                shown += f" {' '.join(sorted(sorts - {'Bool'})) or 'Bool'}"
            (relations if name in _RELATIONS | {b"forall", b"exists"} else functions).add(shown)
    commands = {
        name.decode(errors="replace")
        for name in script.names
        if name and name not in _USUAL and not name.startswith((b"declare-", b"define-"))
    }
    return ", ".join(sorted(functions or relations) + sorted(commands)) or "nothing"


def _operator(script: Script, node: int) -> bytes | None:
    """Return the operator that a term applies, without its indices; None for a constant."""
    document = script.document
    head = node + 1
    if head >= document.stop[node]:  # a symbol or a literal
        return None
    if script.refs[head] >= 0:
        return b"function"
    applied = document.stop[head] > head + 1
    if applied:  # (_ extract 7 0), (as const ...)
        head += 1
    name = document.source(head)
    if name not in (b"_", b"as") or head + 1 >= document.stop[node]:
        return name
    # A literal such as (_ bv0 8) or (_ NaN 8 24) tells no more than its sort.
    return document.source(head + 1) if applied or name == b"as" else None
