## region_pairs.mako: two or more instructions of a region that stand one behind the other, as one handler
## (vm/region/emit/pair.c).
##
## All keep their cells: the handler in the first one's cell does the first, steps on and does the second as it stands
## there.  Whoever jumps to the second finds it as ever.  A third one stands behind a pair as the second behind the first.
## `via` names operands that are the very slot that the instruction before has put its result into: they come from there
## in a register, since what has just been stored can be loaded only some cycles later.
##
## These are candidates, more than anybody runs: a profile (gen/sequences.py) says which of them are made.
<%!
import itertools

COMPARE = ("LT", "LE", "GT", "GE", "EQ", "NE")
PAIRS = {}

def shapes(chosen):
    """The same instructions with shapes that are known, of all objects or of all but the first ones."""
    yield chosen
    at = [i for i, name in enumerate(chosen) if name.startswith("RA_")]
    for tested in range(min(len(at), 3)):
        yield tuple("RAK" + name[2:] if i in at[tested:] else name for i, name in enumerate(chosen))

def run(*parts):
    """Instructions one behind the other, of each part any; `B@ab`: operands a and b of B come from the one before;
    `B@a2`: from the one two before."""
    for chosen in itertools.chain.from_iterable(map(shapes, itertools.product(*(part.split() for part in parts)))):
        first = chosen[0]
        for n, part in enumerate(chosen[1:]):
            second, _, via = part.partition("@")
            letters = via.rstrip("0123456789")
            key = first, second, letters, via[len(letters):] or "1"
            name = f"{first}_{second}" + (f"_VIA_{via.upper()}" if via else "") if n == 0 else f"{chosen[0]}_RUN_{len(PAIRS)}"
            first = PAIRS.setdefault(key, name)

def pairs(firsts, seconds):
    run(firsts, seconds)

def each(text, values):
    return " ".join(text.replace("*", v) for v in values)

# Loops that count
pairs("RI_ADD_SK_S RI_SUB_SK_S", each("RBI_BACK_*_SS RBI_BACK_*_SK", COMPARE) + " R_JUMP_BACK R_NEXT_RANGE")
pairs("RI_ADD_SK_S RI_SUB_SK_S", "RI_ADD_SK_S RI_SUB_SK_S")
pairs("RD_ADD_SR_S RD_SUB_SR_S RD_ADD_RS_S RI_ADD_SR_S RI_ADD_RS_S RI_ADD_SS_S RL_SET_D_S_R RL_SET_I_S_R RL_SET_I_S_S "
      "RL_SET_D_S_S RL_COPY_I RL_COPY_D RE_SET_FLOAT64_S_R RE_SET_FLOAT64_S_S RE_SET_INT32_S_R R_RELEASE R_STORE_HOME",
      "R_NEXT_RANGE")
pairs("R_RELEASE", "R_JUMP R_JUMP_BACK")
pairs("R_RANGE", "R_FOR_RANGE")
pairs("RW_LIST_A", "R_STORE_HOME")
run("RL_GET_L_S RL_GET_A_S", "R_STORE_HOME@a")
# Arguments and results of functions
pairs("RI_ADD_SK_S RI_SUB_SK_S R_MOVE", "R_CALL")
pairs("R_LOAD_I RI_ADD_SR_R", "R_RETURN_I")
pairs("R_LOAD_D RD_ADD_SR_R RD_MUL_SR_R", "R_RETURN_D")
pairs("R_IS_NONE", "R_IF_TRUE R_IF_FALSE")
# Variables of closures, and what goes into objects
pairs("R_STORE_I", "R_BOX_I")
# Items and elements: exchanged, compared, updated
pairs("RL_GET_I_S_S", "RL_COPY_I RL_GET_I_S_R RL_GET_I_S_S")
pairs("RL_GET_D_S_S", "RL_COPY_D RL_GET_D_S_R RL_GET_D_S_S")
pairs("RL_COPY_I", "RL_SET_I_S_S")
pairs("RL_COPY_D", "RL_SET_D_S_S")
pairs("RL_SET_I_S_S RL_SET_I_S_R", "RI_ADD_SK_S RI_SUB_SK_S")
pairs("RL_GET_I_S_R RA_GET_I_R", each("RBI_*_RS RBI_*_RK", COMPARE))
pairs("RL_GET_D_S_R RA_GET_D_R", each("RBDT_*_RS RBDF_*_RS", COMPARE[:4]))
pairs("RL_GET_D_S_MUL_SR_R RD_MUL_SR_R RD_MUL_SS_R", "RD_ADD_SR_S RD_SUB_SR_S RD_ADD_SR_R RD_SUB_SR_R")
pairs("RD_ADD_SR_R RD_SUB_SR_R RD_MUL_SR_R RD_MUL_SS_R", "RE_SET_FLOAT64_S_R RL_SET_D_S_R RL_SET_D_K_R")
pairs("RE_GET_FLOAT64_S_R RE_GET_FLOAT64_R_R", "RD_ADD_SR_R RD_SUB_SR_R RD_MUL_SR_R RD_ADD_RS_R RD_SUB_RS_R RD_MUL_RS_R")
pairs("RE_GET_FLOAT64_S_S RE_GET_FLOAT64_R_S", "RE_GET_FLOAT64_S_R RE_GET_FLOAT64_S_S")
pairs("RE_GET_INT32_S_R RI_ADD_SK_R RI_ADD_SS_R", "RE_GET_FLOAT64_R_S RE_GET_FLOAT64_R_R")
pairs("RA_GET_I_R", "RI_ADD_RK_R RI_SUB_RK_R RI_MUL_RK_R RI_ADD_KR_R RI_ADD_RS_R RI_ADD_SR_R")
# Arithmetic on doubles, and on ints
pairs("RD_MUL_SS_S", "RD_MUL_SS_S RD_MUL_SS_ADD_SR_S RI_ADD_SK_S " + each("RD_ADD_SS_RBDT_*_RK RD_ADD_SS_RBDF_*_RK", COMPARE[:4]))
pairs("RD_MUL_KS_MUL_RS_R RD_MUL_SS_R", "RD_ADD_RS_S RD_SUB_RS_S")
pairs("RI_ADD_SS_S RI_ADD_SK_S", "RI_ADD_SK_R RI_ADD_SS_R")
pairs("RI_MUL_SR_R", "RI_RSHIFT_RK_R RI_FLOORDIV_RK_R")
pairs("RI_RSHIFT_RK_R RI_FLOORDIV_RK_R RI_ADD_RS_R", "RI_ADD_RS_R RI_ADD_RK_R")
pairs("RI_MUL_SK_R RI_MUL_RK_R", "RI_ADD_RK_R RI_ADD_RS_R")
pairs("RI_ADD_RK_R RI_ADD_RS_R", "RI_MOD_RK_S RI_MOD_RK_R RI_AND_RK_R RI_AND_RK_S R_I2D_R")
pairs("R_I2D_R", "RD_DIV_KR_R RD_DIV_RK_R")
# Coordinates, one behind the other
for get, update, mul_rs, set in ("RL_GET_D_K", "RL_UPDATE_*_K", "RL_GET_D_K_MUL_RS_S", "RL_SET_D_K_R"), ("RA_GET_D", "RA_UPDATE_*", "RA_GET_D_MUL_RS_S", "RA_SET_D_R"):
    run(*[get + "_S", get + "_SUB_SR_S@d"] * 3)
    for op in "ADD", "SUB":
        changed = [f"{update.replace('*', op)}@d{n}" for n in ("", 2, 3)]
        run(mul_rs, *changed)
        run("RD_DIV_SR_S", mul_rs + "@d", *changed)
        run(get + "_S", get + "_MUL_SR_R", f"RD_{op}_SR_R@a2", set)
run("RD_MUL_SS_S", "RD_MUL_SS_ADD_SR_S@d", "RD_MUL_SS_ADD_SR_S@d", "R_LOAD_D@a", "R_SQRT", "RD_MUL_SR_R RD_MUL_RS_R")
run("RD_MUL_SS_S", "RD_MUL_SS_ADD_SR_S@d", "RD_MUL_SS_ADD_SR_R@d", "R_SQRT")
# Iterations
run("RD_SUB_SS_ADD_RS_S RD_ADD_RS_S", "RD_MUL_SS_S@ab", "RD_MUL_SS_S")
run("RI_ADD_SK_S RI_SUB_SK_S", each("RBI_BACK_*_SS@a RBI_BACK_*_SS@b RBI_BACK_*_SK@a", COMPARE))
run("RL_GET_I_S_S", "RL_COPY_I", "RL_SET_I_S_S")
run("RL_GET_D_S_S", "RL_COPY_D", "RL_SET_D_S_S")
run("RI_ADD_SK_GET_I_R RI_SUB_SK_GET_I_R", "RL_SET_I_S_R")
run("RL_GET_I_S_R RA_GET_I_R", "RI_ADD_RK_R RI_SUB_RK_R", "RL_SET_I_S_R RA_SET_I_R")
run("RI_ADD_SK_S", "RL_GET_I_K_S", each("RBI_BACK_*_SK@a", COMPARE))
run("R_CONST", "R_CONST", "R_CONST")
run("R_CONST", "R_MOVE", each("RBI_*_SS", COMPARE))
run("R_CONST", each("RBI_*_SS RBI_*_SK", COMPARE))
# What stands before boxed instructions
pairs("R_COPY R_VALUE R_STORE_I", "R_SET_SP")
%>
% for (first, second, via, back), name in PAIRS.items():
<%isa:pair name="${name}" first="${first}" second="${second}" via="${via}" back="${back}"/>
% endfor
