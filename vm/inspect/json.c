/* json.c: writing JSON (json.h). */
#include "inspect/json.h"

#include <stdio.h>

static void put(const dv_json *json, const char *text, size_t size) {
    json->page->out(json->page->context, text, size);
}

static void put_word(const dv_json *json, const char *word) { put(json, word, strlen(word)); }

/* What stands in front of a value. */
static void begin_value(dv_json *json, const char *key) {
    if (json->begun) put(json, ",", 1);
    json->begun = true;
    if (!key) return;
    put(json, "\"", 1);
    put_word(json, key);
    put(json, "\":", 2);
}

void dv_json_begin(dv_json *json, const char *key, char bracket) {
    begin_value(json, key);
    put(json, &bracket, 1);
    json->begun = false;
}

void dv_json_end(dv_json *json, char bracket) {
    put(json, &bracket, 1);
    json->begun = true;
}

void dv_json_number(dv_json *json, const char *key, uint64_t number) {
    char digits[24];
    begin_value(json, key);
    put(json, digits, (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number));
}

void dv_json_bool(dv_json *json, const char *key, bool truth) {
    begin_value(json, key);
    put_word(json, truth ? "true" : "false");
}

void dv_json_null(dv_json *json, const char *key) {
    begin_value(json, key);
    put_word(json, "null");
}

static void put_escape(const dv_json *json, unsigned unit) {
    char text[8];
    put(json, text, (size_t)snprintf(text, sizeof text, "\\u%04x", unit));
}

/* Three bytes that stand for a surrogate (code/code.h). */
static bool is_surrogate(const char *utf8, size_t size) {
    return size >= 3 && (unsigned char)utf8[0] == 0xED && (unsigned char)utf8[1] >= 0xA0;
}

void dv_json_text(dv_json *json, const char *key, const char *utf8, size_t size) {
    begin_value(json, key);
    put(json, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)utf8[i];
        if (is_surrogate(utf8 + i, size - i)) {
            put_escape(json, 0xD000u | (utf8[i + 1] & 0x3Fu) << 6 | (utf8[i + 2] & 0x3Fu));
            i += 2;
        } else if (c < ' ' || c == 127) {
            put_escape(json, c);
        } else {
            if (c == '"' || c == '\\') put(json, "\\", 1);
            put(json, utf8 + i, 1);
        }
    }
    put(json, "\"", 1);
}

void dv_json_string(dv_json *json, const char *key, const char *text) {
    dv_json_text(json, key, text, strlen(text));
}

void dv_json_finish(dv_json *json) { put(json, "\n", 1); }
