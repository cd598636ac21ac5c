/* calls_lua.c: calls_dynvm.c with Lua 5.4. */
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "clock.h"

enum { CALLS = 1000000 };

static const char program[] = "function add(a, b) return a + b end\n"
                              "function call_dl(n)\n"
                              "  local f = add\n"
                              "  for i = 0, n - 1 do f(i, 1) end\n"
                              "end\n"
                              "function call_c(n)\n"
                              "  local f = host_add\n"
                              "  for i = 0, n - 1 do f(i, 1) end\n"
                              "end\n"
                              "function length(points) return #points end\n";

static int host_add(lua_State *L) {
    lua_pushinteger(L, luaL_checkinteger(L, 1) + luaL_checkinteger(L, 2));
    return 1;
}

static void must(lua_State *L, int good) {
    if (good) return;
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    exit(1);
}

static void host_calls_script(lua_State *L, long count) {
    lua_getglobal(L, "add");
    for (long i = 0; i < count; i++) {
        lua_pushvalue(L, -1);
        lua_pushinteger(L, i);
        lua_pushinteger(L, 1);
        must(L, lua_pcall(L, 2, 1, 0) == LUA_OK && lua_tointeger(L, -1) == i + 1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void in_script(lua_State *L, const char *name, long count) {
    lua_getglobal(L, name);
    lua_pushinteger(L, count);
    must(L, lua_pcall(L, 1, 0, 0) == LUA_OK);
}

static void host_makes_data(lua_State *L, long count) {
    for (long i = 0; i < count; i += 100) {
        lua_getglobal(L, "length");
        lua_createtable(L, 0, 0);
        for (int k = 0; k < 100; k++) {
            lua_createtable(L, 2, 0);
            lua_pushinteger(L, k);
            lua_rawseti(L, -2, 1);
            lua_pushnumber(L, 0.5 * k);
            lua_rawseti(L, -2, 2);
            lua_rawseti(L, -2, k + 1);
        }
        must(L, lua_pcall(L, 1, 1, 0) == LUA_OK);
        lua_pop(L, 1);
    }
}

int main(void) {
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    lua_register(L, "host_add", host_add);
    must(L, luaL_dostring(L, program) == LUA_OK);
    double least[4];
    for (int k = 0; k < 4; k++) least[k] = 1e9;
    for (int round = 0; round < 7; round++) {
        keep_least(&least[0], CALLS, host_calls_script(L, CALLS));
        keep_least(&least[1], CALLS, in_script(L, "call_dl", CALLS));
        keep_least(&least[2], CALLS, in_script(L, "call_c", CALLS));
        keep_least(&least[3], CALLS, host_makes_data(L, CALLS));
    }
    printf("host_to_script %.1f\nscript_to_script %.1f\nscript_to_host %.1f\n", least[0], least[1],
           least[2]);
    printf("host_makes_pairs %.1f\n", least[3]);
    lua_close(L);
    return 0;
}
