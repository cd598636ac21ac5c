"""The tags of gen/ops/*.mako: <%isa:op>, <%isa:derivative>, <%isa:region>, <%isa:pair>.  Each adds one instruction to
the model."""

import re

from mako.runtime import capture, supports_caller

from isa import Instruction, ModelError

KNOWN = {
    "name", "doc", "operands", "stack", "variable", "cache", "site", "calls_out", "kills", "ends",
    "of", "types", "when", "result", "select", "modes", "fuses", "homes", "line",
    "joins", "lowers", "promises", "saw", "covers", "region", "which", "open", "several", "variant_of", "where", "behind",
}


def _flag(value: str) -> bool:
    return value == "yes"


OUT_OF_LINE = "--- out of line ---"


def _split(body: str) -> tuple:
    """The body up to the line that says so, and what stands behind it, with the #line that belongs there."""
    fast, found, slow = body.partition(OUT_OF_LINE)
    if not found:
        return body, ""
    where = re.match(r'#line (\d+) (".*")\n', fast)
    line = int(where[1]) + fast.count("\n") if where else 0
    return fast.rstrip(), (f"#line {line} {where[2]}\n" if where else "") + slow.strip("\n")


def _add(context, kind: str, attributes: dict) -> str:
    model, source = context["model"], context["source"]
    unknown = set(attributes) - KNOWN
    if unknown:
        raise ModelError(f"{source}: unknown attribute {', '.join(sorted(unknown))}")
    body = capture(context, context["caller"].body)
    fast, slow = _split(body.strip("\n"))
    before, _, after = attributes.get("stack", "--").partition("--")
    operands = attributes.get("operands", "").split()
    region = attributes.get("region", "").split()
    joins = attributes.get("joins", "").split()
    doc = (f"{' and '.join(joins)} in one.  " if joins else "") + attributes.get("doc", "")
    cache, fuses = attributes.get("cache", "0"), attributes.get("fuses", "").split()
    model.add(
        Instruction(
            name=attributes["name"],
            kind=kind,
            doc=" ".join(doc.split()),
            source=source,
            line=int(attributes["line"]),
            body=fast,
            slow=slow,
            operands=operands,
            inputs=before.split(),
            outputs=after.split(),
            variable=attributes.get("variable", ""),
            cache=int(cache) if cache.isdigit() else 0,
            cached=[] if cache.isdigit() else cache.split(),
            site=_flag(attributes.get("site", "")) or "own" in operands,
            calls_out=_flag(attributes.get("calls_out", "")),
            kills=attributes.get("kills", ""),
            ends=_flag(attributes.get("ends", "")),
            family=attributes.get("of", ""),
            types=attributes.get("types", "").split(),
            result=attributes.get("result", ""),
            select=attributes.get("select", ""),
            when=attributes.get("when", ""),
            modes=attributes.get("modes", ""),
            homes=attributes.get("homes", ""),
            joins=joins,
            lowers=attributes.get("lowers", "").split(),
            fuses=[mode for mode in fuses if mode != "only"],
            fused_only="only" in fuses,
            promises=attributes.get("promises", ""),
            region=next((word for word in region if word != "counts"), ""),
            counts="counts" in region,
            saw=attributes.get("saw", ""),
            covers=attributes.get("covers", ""),
            which=attributes.get("which", "0"),
            open=_flag(attributes.get("open", "")),
            several=attributes.get("several", ""),
            variant_of=attributes.get("variant_of", ""),
            where=attributes.get("where", "").split(),
            behind=attributes.get("behind", "").split(),
        )
    )
    return ""


@supports_caller
def op(context, **attributes):
    return _add(context, "generic", attributes)


@supports_caller
def derivative(context, **attributes):
    return _add(context, "derivative", attributes)


@supports_caller
def region(context, **attributes):
    return _add(context, "region", attributes)


def pair(context, line: str, name: str, first: str, second: str, via: str = "", back: str = "1") -> str:
    context["model"].add(
        Instruction(
            name=name,
            kind="pair",
            doc=f"{first}, and {second} behind it.",
            source=context["source"],
            line=int(line),
            body="",
            cache=3,
            family=first,
            second=second,
            via=via,
            back=int(back),
        )
    )
    return ""
