/* codec_parts.h: what the codecs in several files share (codec.c), and those that codec.c calls. */
#ifndef DV_TYPES_CODEC_PARTS_H
#define DV_TYPES_CODEC_PARTS_H

#include "types/binary/bytes.h"
#include "types/text/str.h"

/* Does what the error handler `errors` (str, or EMPTY: strict) says: puts a substitute for
 * s[start:stop], which cannot be encoded, into the builder, as bytes; false: raised. */
bool dv_codec_encode_error(dv_builder *b, dv_codec codec, dv_value s, int64_t start, int64_t stop,
                           dv_value errors) DV_MUST_CHECK;
/* The same for bytes[start:stop], which mean nothing for `reason`: puts text into the builder. */
bool dv_codec_decode_error(dv_builder *b, dv_codec codec, dv_value bytes, int64_t start,
                           int64_t stop, const char *reason, dv_value errors) DV_MUST_CHECK;
/* "\xNN", "\uNNNN" or "\UNNNNNNNN", whichever is shortest. */
void dv_codec_put_escape(dv_builder *b, uint32_t c);

/* codec_wide.c: utf-16 and utf-32. */
dv_value dv_codec_wide_encode(dv_vm *vm, dv_value s, dv_codec codec, dv_value errors);
dv_value dv_codec_wide_decode(dv_vm *vm, dv_value bytes, dv_codec codec, dv_value errors);

/* codec_escape.c: unicode-escape and raw-unicode-escape. */
dv_value dv_codec_escape_encode(dv_vm *vm, dv_value s, dv_codec codec);
dv_value dv_codec_escape_decode(dv_vm *vm, dv_value bytes, dv_codec codec, dv_value errors);

#endif
