/* Generated from gen/ops by gen/render.py: opcodes and what is known about them. */
#ifndef DV_OPS_H
#define DV_OPS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum dv_op {
% for i in model.instructions:
    DV_OP_${i.name} = ${i.number},
% endfor
    DV_OP_COUNT = ${len(model.instructions)},
    DV_OP_GENERIC_COUNT = ${len(model.generic())},
    DV_OP_FIRST_REGION = ${model.regions()[0].number},
    DV_OP_REGION_COUNT = ${len(model.regions())}
} dv_op;

/* In the `own` of a binary operator, beyond the bits of its inputs: it is a op= b, and a may be changed in place. */
enum { DV_OWN_INPLACE = 4 };

/* Region instructions by the modes of their operands: all that there might be, in the order of their blocks. */
typedef enum dv_moded {
% for i in model.moded:
    DV_MODED_${i.name},
% endfor
    DV_MODED_COUNT
} dv_moded;

/* Which of them there is; DV_OP_COUNT: no profile asked for it (gen/sequences.py), others do the same. */
uint32_t dv_op_moded(uint32_t moded);
/* The other way round; DV_MODED_COUNT: op is none of them. */
uint32_t dv_moded_of(uint32_t op);

typedef enum dv_op_kind { DV_KIND_GENERIC, DV_KIND_ADAPTIVE, DV_KIND_DERIVATIVE, DV_KIND_REGION, DV_KIND_FUSION, DV_KIND_PAIR } dv_op_kind;

typedef enum dv_operand_kind {
    DV_OPERAND_NONE,
% for kind in isa.OPERAND_KINDS:
    DV_OPERAND_${kind.upper()},
% endfor
} dv_operand_kind;

/* Stack effects that depend on operand a; DV_EFFECT_FIXED: inputs and outputs say all. */
typedef enum dv_effect {
    DV_EFFECT_FIXED,
% for name in isa.EFFECTS:
    DV_EFFECT_${name.upper()},
% endfor
} dv_effect;

/* What is in a half of a cell of a site's inline cache. */
typedef enum dv_cached {
    DV_CACHED_NOTHING,
% for name, (_, doc) in isa.CACHED.items():
    DV_CACHED_${name.upper()}, /* ${doc} */
% endfor
} dv_cached;

/* What a derivative's site, hot in a loop, says about a region of that loop. */
typedef enum dv_promises {
% for name, doc in isa.PROMISES.items():
    DV_PROMISES_${name.upper()}, /* ${doc} */
% endfor
} dv_promises;

/* What regions, and expressions of extensions, learn from the derivative that a site has: evidence, which may be wrong. */
typedef enum dv_saw {
    DV_SAW_NOTHING,
% for name, doc in isa.SAW.items():
    DV_SAW_${name.upper()}, /* ${doc} */
% endfor
} dv_saw;

/* What regions do with a generic instruction. */
typedef enum dv_op_region {
    DV_REGION_STEPS, /* it has a transfer function (dv_steps) */
% for name, doc in isa.REGION.items():
    DV_REGION_${name.upper()}, /* ${doc} */
% endfor
} dv_op_region;

typedef struct dv_op_info {
    uint8_t kind;           /* dv_op_kind */
    uint8_t operand_count;  /* words = max(1, operand_count) */
    uint8_t operands[3];    /* dv_operand_kind */
    uint8_t operand_cells[3];
    uint8_t inputs, outputs;
    uint8_t effect;         /* dv_effect */
    uint8_t length;         /* cells */
    uint8_t cache_cell;     /* first cell of the inline cache */
    bool site, calls_out, ends;
    uint16_t covers;        /* derivatives: the instruction behind them whose work they do, too; DV_OP_NOP: none */
    uint16_t family;        /* derivatives and adaptive forms: the generic opcode; fusions: the derivative; pairs: what stands
                               before the last instruction, an instruction or a pair; others: the opcode itself */
    uint16_t adaptive;      /* families: the adaptive form; pairs: the last instruction; others: the opcode itself */
    uint8_t result;         /* derivatives: lattice kind number of the output, 0: not known (dv_result) */
    uint8_t kills;          /* 0 nothing, 1 heap, 2 all: what the abstract interpreter must forget */
    uint8_t types[3];       /* derivatives: dv_result of the guarded inputs, 0: unguarded */
    uint8_t slots;          /* region instructions: operands in use (isa.py, slots) */
    uint8_t cached[4];      /* derivatives: dv_cached of the cache's first cell, its left half first, then of the second one */
    bool of_class;          /* ... and with that they depend on classes */
    uint8_t promises;       /* derivatives: dv_promises */
    uint8_t region;         /* generic: dv_op_region */
    bool counts;            /* ... and a promise counts that against a region (region/analyse/promise.h) */
    uint8_t which;          /* which of those with the same transfer function, or of its kind of derivatives, it is: an enumerator of C */
    bool open;              /* generic: extensions may specialise it by its operands */
    uint8_t saw;            /* derivatives: dv_saw */
    uint16_t plain;         /* variants: what they stand in for; others: the opcode itself */
    uint16_t first_variant; /* of dv_variants: what may stand in for it */
    uint8_t variant_count;
    uint8_t behind;         /* variants: how many instructions behind them they may do the work of, too */
    uint16_t several;       /* derivatives for one shape: those for several; 0: it has none */
    uint16_t first_fusion;  /* derivatives: the first of their fusions; region instructions and pairs: of the pairs that they begin */
    uint8_t fusion_count;
    uint8_t load_count;     /* fusions: loads in front of the derivative ... */
    uint8_t loads[3];       /* ... and their opcodes, the last one first */
    bool stores;            /* fusions: the STORE_LOCAL behind belongs to it */
    uint8_t via;            /* pairs: operands a to d (bits 0 to 3) of the last instruction that must be slot c of the one ... */
    uint8_t back;           /* ... so many before */
} dv_op_info;

typedef enum dv_result {
    DV_RESULT_NONE_KNOWN,
% for name in isa.TYPES:
    DV_RESULT_${name.upper()},
% endfor
} dv_result;

extern const dv_op_info dv_op_infos[DV_OP_COUNT];

/* Is op one of the opcodes from first to last? */
static inline bool dv_op_among(uint32_t op, uint32_t first, uint32_t last) {
    return op - first <= last - first;
}

/* What may stand in for an instruction where it has been threaded, and is that instruction to everybody else (run/thread.h). */
typedef struct dv_variant {
    uint16_t op;
    uint8_t behind_count;
    uint16_t behind[3];           /* generic instructions that must be behind it ... */
    int8_t behind_arguments[3];   /* ... with this operand; -1: any */
    int8_t arguments, locals;     /* its own operand, the number of the function's locals; -1: any */
    bool immediate;               /* its constant is no object */
    bool of_function;             /* its cache says that a dl function was found */
} dv_variant;

extern const dv_variant dv_variants[];

/* Entries that an instruction takes off the operand stack and puts there; n and m are its operands. */
uint64_t dv_op_takes(const dv_op_info *info, uint64_t n, uint64_t m);
uint64_t dv_op_puts(const dv_op_info *info, uint64_t n, uint64_t m);

/* What instructions of regions do with their operands (gen/isa/region_facts.py), for whoever checks regions that people wrote. */
typedef enum dv_place {
% for name in region_facts.PLACES:
    DV_PLACE_${name},
% endfor
} dv_place;

typedef enum dv_takes {
% for name in region_facts.CONSTANTS:
    DV_TAKES_${name},
% endfor
} dv_takes;

typedef enum dv_homes {
% for name in region_facts.HOMES:
    DV_HOMES_${name},
% endfor
} dv_homes;

enum { DV_REGISTER_R = 1, DV_REGISTER_D = 2, DV_CELL_3 = 1, DV_CELL_4 = 2 };

typedef struct dv_region_facts {
    uint8_t reads[4];       /* dv_place: what slots a to d must hold; DV_PLACE_ARRAY + 1 + element: an array of these */
    uint8_t puts[4];        /* dv_place: what they hold behind it */
    uint8_t read_registers, put_registers;
    uint8_t constant;       /* dv_takes: what is in cell 2 */
    uint8_t jumps, exits;   /* cells with a target to which it jumps, to which it leaves before anything has happened ... */
    uint8_t late;           /* ... jumps before which all has been put */
    uint8_t homes;          /* dv_homes: what becomes of objects */
    uint8_t guards;         /* dv_place: what slot a is known to hold behind it */
    bool goes_on;           /* with the next instruction, if it does not jump */
    bool raises, polls;     /* a point with an exit must be here */
    bool publishes;         /* slot d is where the operand stack ends */
    bool by_hand;           /* nothing of the machine is in it that a text cannot name */
} dv_region_facts;

extern const dv_region_facts dv_region_facts_of[DV_OP_REGION_COUNT]; /* by opcode - DV_OP_FIRST_REGION */
const char *dv_op_name(uint32_t op);

/* The instruction that stands for two: of regions, where the second takes what the first has put into a register, and a
   derivative with the jump behind it; DV_OP_COUNT: there is none. */
uint32_t dv_op_joined(uint32_t first, uint32_t second);

#endif
