/* Generated from ext/ndarray/functions/ziggurat.mako: the tables of the ziggurats for normal and exponential numbers
 * (bits.h): 256 strips of one area. */
#include "functions/bits.h"
<%!
import decimal
import math
import struct

# The edge of the last strip, and the area of each.
R, AREA, MANTISSA = 3.6541528853610087963519472518, 0.004928673233974652, 2.0 ** 52
# By how many last places NumPy's tables differ from what is computed here; random numbers are to be NumPy's.
WIDTHS = {1: -76, 2: -22, 3: -19, 4: -18, 5: -15, 6: -15, 7: -10, 8: -9, 9: -5, 10: -4, 11: -5, 12: -4, 13: -4,
    14: -4, 15: -4, 16: -3, 17: -4, 18: -4, 19: -4, 20: -4, 21: -3, 22: -3, 23: -4, 24: -2, 25: -2, 26: -2, 27:
    -1, 28: -2, 29: -2, 30: -2, 31: -2, 32: -2, 33: -2, 34: -2, 35: -2, 36: -2, 37: -2}
LIMITS = {2: -18, 3: -5, 4: -2, 5: -2, 7: -2, 9: 1, 11: 1, 12: -1, 14: 1, 17: 2, 23: 2, 24: -1, 28: 1, 31: 1,
    35: 1, 38: -1, 41: 1, 51: 1, 54: 1, 57: 1, 59: 1, 69: 1, 72: 1, 74: 1, 86: 1, 87: 1, 89: 1, 92: 1, 93: 1,
    94: 1, 100: 1, 103: 1, 110: 1, 124: 1, 128: 1, 134: 1, 136: 1, 139: 1, 142: 1, 143: 1, 149: 1, 150: 1, 152:
    1, 154: 1, 157: 1, 158: 1, 162: 1, 165: 1, 166: 1, 167: 1, 168: 1, 170: 1, 177: 1, 178: 1, 191: 1, 193: 1,
    194: 1, 201: 1, 204: 1, 215: 1, 221: 1, 223: 1, 230: 1, 231: 1, 234: 1, 241: 1, 246: 1, 251: 1, 252: 1, 253:
    1}
HEIGHTS = {1: 4, 2: 3, 3: 3, 4: 3, 5: 3, 6: 3, 7: 2, 8: 2, 9: 2, 10: 2, 11: 2, 12: 2, 13: 2, 14: 2, 15: 2, 16:
    2, 17: 2, 18: 2, 19: 2, 20: 2, 21: 2, 22: 2, 23: 2, 24: 2, 25: 1, 26: 1, 27: 1, 28: 1, 29: 1, 30: 1, 31: 1,
    32: 1, 33: 1, 34: 1, 35: 1, 36: 1, 37: 1, 38: 1}


def adjusted(x, places):
    return struct.unpack("<d", struct.pack("<q", struct.unpack("<q", struct.pack("<d", x))[0] + places))[0]


edge, height = R, math.exp(-0.5 * R * R)
limits, widths, heights = [0] * 256, [0.0] * 256, [1.0] * 256
limits[0], widths[0] = int(R * height / AREA * MANTISSA), AREA / height / MANTISSA
widths[255], heights[255] = R / MANTISSA, height
for i in range(254, 0, -1):
    x = math.sqrt(-2.0 * math.log(AREA / edge + heights[i + 1]))
    limits[i + 1], widths[i], heights[i], edge = int(x / edge * MANTISSA), x / MANTISSA, math.exp(-0.5 * x * x), x
limits = [n + LIMITS.get(i, 0) for i, n in enumerate(limits)]
widths = [adjusted(x, WIDTHS.get(i, 0)) for i, x in enumerate(widths)]
heights = [adjusted(x, HEIGHTS.get(i, 0)) for i, x in enumerate(heights)]

# The same for exp(-x), computed with 50 digits.  (The limits are within 4 of 2**53 of NumPy's, which no program can see.)
EXP_WIDTHS = {1: -4, 2: -3, 3: -1, 4: -2, 5: -1, 6: -1, 7: -1, 12: -1, 13: -1, 14: -1, 15: -1, 18: -1, 33: -1, 35: -1, 55: -1,
    56: -1, 66: -1, 91: -1, 141: -1, 144: -1, 179: -1}
EXP_HEIGHTS = {i: 1 for i in (1, 2, 19, 22, 35, 49, 77, 94, 100, 114, 126, 128)}
decimal.getcontext().prec = 50
edge, area = decimal.Decimal("7.69711747013104971404462804811408952"), decimal.Decimal("0.0039496598225815571993")
height, unit = (-edge).exp(), decimal.Decimal(2 ** 53)
exp_limits, exp_widths, exp_heights = [0] * 256, [0.0] * 256, [1.0] * 256
exp_limits[0], exp_widths[0] = int(edge * height / area * unit), float(area / height / unit)
exp_widths[255], exp_heights[255] = float(edge / unit), float(height)
for i in range(254, 0, -1):
    height = area / edge + height
    x = -height.ln()
    exp_limits[i + 1], exp_widths[i], exp_heights[i], edge = int(x / edge * unit), float(x / unit), float(height), x
exp_widths = [adjusted(x, EXP_WIDTHS.get(i, 0)) for i, x in enumerate(exp_widths)]
exp_heights = [adjusted(x, EXP_HEIGHTS.get(i, 0)) for i, x in enumerate(exp_heights)]
%>\

% for name, (n, w, h) in (("normal", (limits, widths, heights)), ("exp", (exp_limits, exp_widths, exp_heights))):
const nd_ziggurat bits_${name} = {
    .limits = {${", ".join("0x%016X" % x for x in n)}},
    .widths = {${", ".join(x.hex() for x in w)}},
    .heights = {${", ".join(x.hex() for x in h)}},
};
% endfor
