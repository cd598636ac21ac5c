/* cache.c: objects with maps, and property caches; lab 3 (lesson3.md).
 *
 * A *map* (hidden class) says which attribute is in which slot, for all objects that got the same
 * attributes in the same order.  Methods are in classes, each in a *cell* of its own, which never
 * moves: who has the cell sees what is stored to it later.
 *
 * A *site* is one place of a program that reads an attribute or looks for a method.  It may
 * remember what it found, in its cache.
 *
 * Invariants
 *  1. A map never changes.  An object that gets a new attribute gets another map.
 *  2. `version` of a class grows when a lookup in it may lead to another cell: when the class, or
 * one above it, gets a method that it had not.  (Storing to a cell that is there changes no
 * version.)
 *
 * usage: cache PROGRAM      PROGRAM: same, two, growing, six, stored, overridden or classes
 * prints what the program computed, and how often sites had to search. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Classes, maps, objects ---- */

enum { MOST = 8 };

typedef struct method_cell {
    const char *name;
    long result; /* what a call of the method gives: our methods are constants */
} method_cell;

typedef struct class_ {
    struct class_ *base;
    struct class_ *derived[MOST];
    int derived_count;
    int version;
    method_cell *methods[MOST];
    int method_count;
} class_;

typedef struct map {
    class_ *of;
    const char *names[MOST]; /* names[i]: the attribute in slot i */
    int count;
    struct map *larger[MOST]; /* with one more attribute */
    int larger_count;
} map;

typedef struct object {
    map *map;
    long slots[MOST];
} object;

static long searches; /* how often a name was looked for */

static void *zeroed(size_t size) {
    void *made = calloc(1, size);
    if (!made) exit(3);
    return made;
}

static class_ *new_class(class_ *base) {
    class_ *c = zeroed(sizeof *c);
    c->base = base;
    if (base) base->derived[base->derived_count++] = c;
    return c;
}

static map *new_map(class_ *of) {
    map *m = zeroed(sizeof *m);
    m->of = of;
    return m;
}

/* The slot of an attribute; -1: there is none. */
static int search_slot(const map *m, const char *name) {
    searches++;
    for (int i = 0; i < m->count; i++)
        if (strcmp(m->names[i], name) == 0) return i;
    return -1;
}

/* The cell of a method in a class or those above it; NULL: there is none. */
static method_cell *search_method(const class_ *c, const char *name) {
    searches++;
    for (; c; c = c->base)
        for (int i = 0; i < c->method_count; i++)
            if (strcmp(c->methods[i]->name, name) == 0) return c->methods[i];
    return NULL;
}

/* The map of objects that get one attribute more. */
static map *grown(map *m, const char *name) {
    for (int i = 0; i < m->larger_count; i++)
        if (strcmp(m->larger[i]->names[m->count], name) == 0) return m->larger[i];
    map *more = new_map(m->of);
    memcpy(more->names, m->names, sizeof m->names);
    more->names[m->count] = name;
    more->count = m->count + 1;
    return m->larger[m->larger_count++] = more;
}

static void set_attribute(object *o, const char *name, long number) {
    long *slot = NULL;
    for (int i = 0; i < o->map->count; i++)
        if (strcmp(o->map->names[i], name) == 0) slot = &o->slots[i];
    if (!slot) {
        o->map = grown(o->map, name);
        slot = &o->slots[o->map->count - 1];
    }
    *slot = number;
}

/* A lookup in c or a class derived from it may lead to another cell now. */
static void changed(class_ *c) {
    c->version++;
    for (int i = 0; i < c->derived_count; i++) changed(c->derived[i]);
}

static void set_method(class_ *c, const char *name, long result) {
    for (int i = 0; i < c->method_count; i++)
        if (strcmp(c->methods[i]->name, name) == 0) {
            c->methods[i]->result = result;
            return;
        }
    method_cell *cell = zeroed(sizeof *cell);
    *cell = (method_cell){name, result};
    c->methods[c->method_count++] = cell;
    changed(c);
}

/* ---- Sites and their caches ---- */

enum { CASES = 4 };

typedef struct site {
    const char *name;
    struct {
        const map *map;
        int slot;
    } cases[CASES];
    int count;
    const class_ *class_;
    int version;
    method_cell *cell;
} site;

/* object.name */
static long get_attribute(site *s, const object *o) {
    for (int i = 0; i < s->count; i++)
        if (s->cases[i].map == o->map) return o->slots[s->cases[i].slot];
    const int slot = search_slot(o->map, s->name);
    if (slot < 0) return -1;
    if (s->count < CASES) {
        s->cases[s->count].map = o->map;
        s->cases[s->count++].slot = slot;
    }
    return o->slots[slot];
}

/* object.name() */
static long call_method(site *s, const object *o) {
    const class_ *c = o->map->of;
    if (s->class_ != c || s->version != c->version) {
        s->cell = search_method(c, s->name);
        s->class_ = c;
        s->version = c->version;
    }
    return s->cell ? s->cell->result : -1;
}

/* ---- Programs ---- */

static object new_object(map *m, long x) {
    object o = {.map = m};
    set_attribute(&o, "x", x);
    return o;
}

/* An attribute of objects that all have the same map. */
static long same(void) {
    site x = {.name = "x"};
    map *point = new_map(new_class(NULL));
    long sum = 0;
    for (long i = 0; i < 1000; i++) {
        const object p = new_object(point, i);
        sum += get_attribute(&x, &p);
    }
    return sum;
}

/* Objects whose attributes came in another order after a while, and one that has none. */
static long two(void) {
    site x = {.name = "x"};
    map *point = new_map(new_class(NULL)), *other = grown(point, "y");
    const object none = {.map = point};
    long sum = 0;
    for (long i = 0; i < 1000; i++) {
        const object p = new_object(i % 2 ? point : other, i);
        sum += get_attribute(&x, &p);
    }
    return sum + get_attribute(&x, &none);
}

/* One object that grows: what was found before must not be used for its new map by mistake. */
static long growing(void) {
    site y = {.name = "y"};
    map *empty = new_map(new_class(NULL));
    object p = new_object(empty, 1), q = {.map = empty};
    set_attribute(&p, "y", 10);
    set_attribute(&q, "y", 20);
    set_attribute(&q, "x", 2);
    return get_attribute(&y, &p) * 10000 + get_attribute(&y, &q) * 100 + get_attribute(&y, &p);
}

/* More maps than a cache has room for. */
static long six(void) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    site x = {.name = "x"};
    map *empty = new_map(new_class(NULL));
    long sum = 0;
    for (long i = 0; i < 1200; i++) {
        const object p = new_object(grown(empty, names[i % 6]), i);
        sum += get_attribute(&x, &p);
    }
    return sum;
}

/* A method that gets another function while the program runs: again and again. */
static long stored(void) {
    site area = {.name = "area"};
    class_ *shape = new_class(NULL);
    const object o = {.map = new_map(shape)};
    long sum = 0;
    for (long i = 0; i < 1000; i++) {
        set_method(shape, "area", i);
        sum += call_method(&area, &o);
    }
    return sum;
}

/* A method of a base class, until the class gets one of its own. */
static long overridden(void) {
    site area = {.name = "area"};
    class_ *shape = new_class(NULL), *square = new_class(shape);
    const object o = {.map = new_map(square)};
    set_method(shape, "area", 1);
    long sum = 0;
    for (long i = 0; i < 1000; i++) {
        if (i == 500) set_method(square, "area", 100);
        sum += call_method(&area, &o);
    }
    return sum;
}

/* Methods of one name in two classes: first objects of one come, then of the other. */
static long classes(void) {
    site area = {.name = "area"};
    class_ *shapes[] = {new_class(NULL), new_class(NULL)};
    long sum = 0;
    for (int i = 0; i < 2; i++) set_method(shapes[i], "area", 2 + 28 * i);
    const object o[] = {{.map = new_map(shapes[0])}, {.map = new_map(shapes[1])}};
    for (long i = 0; i < 1000; i++) sum += call_method(&area, &o[i / 500]);
    return sum;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        long (*run)(void);
    } programs[] = {{"same", same},      {"two", two},       {"growing", growing},
                    {"six", six},        {"stored", stored}, {"overridden", overridden},
                    {"classes", classes}};
    for (size_t i = 0; argc == 2 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(argv[1], programs[i].name) == 0) {
            const long result = programs[i].run();
            printf("result %ld searches %ld\n", result, searches);
            return 0;
        }
    return fputs("usage: cache PROGRAM\n", stderr), 2;
}
