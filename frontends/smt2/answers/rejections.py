"""What solvers print about a script that they need not accept."""

from __future__ import annotations

import re

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
    | \b(?:model|core|proof|assumptions)[ ](?:is|are)[ ]not[ ]available\b
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


def rejects(line: str, *, well_formed: bool) -> bool:
    """Return whether the failure line of a run says that a program need not accept its input.

    What is `well_formed`, such as an input of our generator, may be rejected only for what the
    program lacks; anything else, such as a file of a user, also by its rules.
    """
    if _LACKING.search(line) is not None:
        return True
    return not well_formed and _DECLINED.search(line) is not None
