/* Checks every position of exact jarmo tables against the positions that its actions lead to.
 *
 * It shares nothing with the program that built them: it was written from the rules and from the section
 * "The index" of docs/lab/tables.md, in another language, goes forward where the solver goes backwards, and
 * finds the number of a set by counting sets. A table passes if the value of every position follows from
 * the rules (the game is over) or from the values of the positions one action later. That proves every
 * result: a win in n has an action to a loss in n - 1, down to a game that is over; a loss has only
 * actions to wins; from a draw neither player can reach anything better than a draw.
 *
 *     cc -O3 -march=native -pthread -o check_tables tools/check_tables.c
 *     ./check_tables tables/            # all forces there
 *     ./check_tables tables/ 7 8        # forces 7 to 8; lower ones are read only
 *
 * It prints counts and the longest win of every force, and exits with 1 if a position is wrong.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif

enum { CIRCLES = 25, ARCHERS = 5, LEAST = 2, MOST = 10, HEADER = 72, TILE = 32 };
enum { WHITE, BLACK };
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

static const char LINES[] =
    "A1-B3 A1-C2 B1-A3 B1-D2 C1-A2 C1-D3 C1-E2 D1-B2 D1-C3 E1-C2 E1-D3 "
    "A2-C3 B2-C2 B2-B3 B2-C4 C2-D2 C2-E3 D2-D3 D2-B3 E2-D4 "
    "A3-B5 B3-C3 B3-B4 B3-A5 B3-C5 C3-A4 C3-E4 D3-D4 D3-B4 D3-E5 E3-D5 "
    "A4-C5 B4-C4 B4-D5 C4-D4 C4-A5 C4-E5 D4-B5 E4-C5";

static u32 near[CIRCLES];                      /* the circles one line away */
static const u32 ROW1 = 31, ROW5 = 31u << 20;  /* circle = 5 * row + column */
static u32 goal_of(int player) { return player == WHITE ? ROW5 : ROW1; }
static u32 home_of(int player) { return player == WHITE ? ROW1 : ROW5; }

static void die(const char *what, const char *which) {
    fprintf(stderr, "%s: %s\n", which, what);
    exit(2);
}

/* ---- Numbers of sets: sets of equal size, in the order of their bits read as a number. ---- */

static u32 *sets[ARCHERS + 1];      /* by size, by number */
static u32 set_count[ARCHERS + 1];  /* sets of circles of each size */
static uint16_t low_part[1 << 12];
static u32 high_part[ARCHERS + 1][1 << 13]; /* by how many members are below bit 12 */
static int pattern_count[ARCHERS + 1][ARCHERS + 1];
static int pattern_set[ARCHERS + 1][ARCHERS + 1][10]; /* by archers, marks, number */
static int pattern_number[1 << ARCHERS];              /* among patterns with as many marks */

static u32 number_of(u32 set) {
    return low_part[set & 0xfff] + high_part[__builtin_popcount(set & 0xfff)][set >> 12];
}

static void count_sets(void) {
    u32 *number = malloc(sizeof(u32) << CIRCLES);
    u32 count[CIRCLES + 1] = {0};
    for (int k = 0; k <= ARCHERS; k++) sets[k] = malloc(sizeof(u32) * 53130);
    for (u32 set = 0; set < 1u << CIRCLES; set++) {
        int size = __builtin_popcount(set);
        number[set] = count[size]++;
        if (size <= ARCHERS) sets[size][number[set]] = set;
    }
    for (int k = 0; k <= ARCHERS; k++) set_count[k] = count[k];
    for (u32 low = 0; low < 1 << 12; low++) low_part[low] = (uint16_t)number[low];
    for (int k = 0; k <= ARCHERS; k++)
        for (u32 high = 0; high < 1 << 13; high++)
            high_part[k][high] = number[high << 12 | ((1u << k) - 1)];
    for (int k = 0; k <= ARCHERS; k++)
        for (u32 i = 0; i < set_count[k]; i++)
            if (number_of(sets[k][i]) != i) die("two ways to number sets differ", "sets");
    for (int a = 0; a <= ARCHERS; a++)
        for (int set = 0; set < 1 << a; set++) {
            int m = __builtin_popcount(set);
            pattern_number[set] = pattern_count[a][m];
            pattern_set[a][m][pattern_count[a][m]++] = set;
        }
    free(number);
}

/* The members of `set`, as places among the circles outside `taken`. */
static u32 squeeze(u32 set, u32 free_circles) {
#ifdef __BMI2__
    return _pext_u32(set, free_circles);
#else
    u32 out = 0;
    for (int to = 0; free_circles; free_circles &= free_circles - 1, to++)
        if (set & free_circles & -free_circles) out |= 1u << to;
    return out;
#endif
}

/* Which archers, in order, are marked; and the reverse. */
static int pattern_of(u32 marked, u32 archers) { return (int)squeeze(marked, archers); }

static u32 marked_of(int pattern, u32 archers) {
    u32 out = 0;
    for (; archers; archers &= archers - 1, pattern >>= 1)
        if (pattern & 1) out |= archers & -archers;
    return out;
}

/* ---- Layers and blocks ---- */

typedef struct {
    int archers, marks;
} Side;

typedef struct {
    const u8 *bytes; /* NULL: no such block */
    u64 columns;
} Block;

typedef struct {
    const u8 *bytes; /* the first position */
    u64 size;
} Layer;

static Layer layers[MOST + 1];
static Block blocks[2][ARCHERS + 1][ARCHERS + 1][ARCHERS + 1][ARCHERS + 1];

/* The block of these sides, by the player to move, who comes first. */
static Block *block_of(int mover, Side own, Side other) {
    return &blocks[mover][own.archers][own.marks][other.archers][other.marks];
}

static u64 choose(int n, int k) {
    u64 out = 1;
    for (int i = 0; i < k; i++) out = out * (u64)(n - i) / (u64)(i + 1);
    return out;
}

static void open_layer(const char *folder, int force) {
    char path[4096];
    snprintf(path, sizeof path, "%s/force-%02d.table", folder, force);
    int file = open(path, O_RDONLY);
    if (file < 0) return;
    struct stat about;
    fstat(file, &about);
    u8 *all = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (all == MAP_FAILED || about.st_size < HEADER || memcmp(all, "JARMOTAB", 8))
        die("is not a table", path);
    u64 at = 0;
    for (int w = 1; w <= ARCHERS; w++)
        for (int b = 1; b <= ARCHERS; b++)
            for (int wm = 0; wm <= w; wm++) {
                int bm = force - w - b - wm;
                if (bm < 0 || bm > b) continue;
                Side white = {w, wm}, black = {b, bm};
                for (int mover = WHITE; mover <= BLACK; mover++) {
                    Side own = mover == WHITE ? white : black;
                    Side other = mover == WHITE ? black : white;
                    u64 rows = choose(CIRCLES, other.archers) * choose(other.archers, other.marks);
                    u64 columns = choose(CIRCLES - other.archers, own.archers) *
                                  choose(own.archers, own.marks);
                    *block_of(mover, own, other) = (Block){all + HEADER + at, columns};
                    at += rows * columns;
                }
            }
    if ((u64)about.st_size != HEADER + at) die("has the wrong size", path);
    layers[force] = (Layer){all + HEADER, at};
}

/* ---- Values ---- */

enum { DRAWN = 0, OVER_DRAWN = 1, LOST = 2, WON = 3 }; /* + 2 for every ply */
enum { IS_DRAW = 128 };
static u8 worth[256];    /* of a position to the player who moved there: wins high, soon is better */
static u8 as_byte[256];  /* back, as the byte of the position before */

static void rank_values(void) {
    for (int byte = 0; byte < 256; byte++) {
        int plies = (byte - 2) / 2 + 1; /* from the position before */
        if (byte <= OVER_DRAWN) worth[byte] = IS_DRAW;
        else if (byte % 2 == 0) worth[byte] = (u8)(255 - plies > IS_DRAW ? 255 - plies : 0);
        else worth[byte] = (u8)(plies < IS_DRAW ? plies : 0);
    }
    for (int score = 1; score < IS_DRAW; score++) as_byte[score] = (u8)(LOST + 2 * score);
    as_byte[IS_DRAW] = DRAWN;
    for (int score = IS_DRAW + 1; score < 255; score++)
        as_byte[score] = (u8)(WON + 2 * (255 - score));
}

/* ---- The check ---- */

typedef struct {
    u32 from, to;   /* bits */
    u32 after;      /* the own archers afterwards */
    int marks;      /* their marks, as a pattern, if nothing was captured */
    int marked;     /* the marks with that of the moved archer set */
    int was_marked; /* whether the archer was marked before */
    const u8 *quiet;   /* the row that a move to an empty circle leads to */
} Move;

typedef struct {
    u32 archers;
    int marks; /* pattern */
    u32 outside; /* archers that can still move */
    u64 rank, pattern_rank;
    int moves;
    Move move[40];
    u32 redeploy_places; /* home circles without an own archer, if a mark can be spent */
    int marks_left;      /* as a pattern of the old archers, after the redeploy */
} Own;

typedef struct {
    u64 won, drawn, lost, over, checked, wrong;
    int longest;
    char example[80];
} Tally;

typedef struct {
    int mover;
    Side own, other;
    u32 next; /* the next tile of own placements, shared */
    pthread_mutex_t lock;
    Tally tally;
} Work;

static void position_text(char *out, int mover, u32 own, u32 own_marked, u32 other, u32 other_marked) {
    for (int row = 4; row >= 0; row--) {
        int empty = 0;
        for (int column = 0; column < 5; column++) {
            u32 bit = 1u << (5 * row + column);
            if (!((own | other) & bit)) {
                empty++;
                continue;
            }
            if (empty) *out++ = (char)('0' + empty);
            empty = 0;
            int white = (own & bit ? mover : !mover) == WHITE;
            char letter = white ? 'w' : 'b';
            *out++ = (own_marked | other_marked) & bit ? (char)(letter - 32) : letter;
        }
        if (empty) *out++ = (char)('0' + empty);
        if (row) *out++ = '/';
    }
    sprintf(out, " %c - - 0", mover == WHITE ? 'w' : 'b');
}

/* Everything about the own side that does not depend on the other. */
static void prepare(Own *o, int mover, Side own, Side other, u32 number) {
    u32 patterns = (u32)pattern_count[own.archers][own.marks];
    o->archers = sets[own.archers][number / patterns];
    o->marks = pattern_set[own.archers][own.marks][number % patterns];
    o->outside = o->archers & ~goal_of(mover);
    u32 marked = marked_of(o->marks, o->archers);
    o->moves = 0;
    const Block *quiet = block_of(!mover, other, own);
    for (u32 rest = o->outside; rest; rest &= rest - 1) {
        u32 from = rest & -rest;
        for (u32 open = near[__builtin_ctz(from)] & ~o->archers; open; open &= open - 1) {
            Move *m = &o->move[o->moves++];
            m->from = from;
            m->to = open & -open;
            m->after = (o->archers & ~from) | m->to;
            m->was_marked = (marked & from) != 0;
            u32 others = marked & ~from;
            m->marked = pattern_of(others | m->to, m->after);
            m->marks = m->was_marked ? m->marked : pattern_of(others, m->after);
            u64 row = (u64)number_of(m->after) * patterns + (u64)pattern_number[m->marks];
            m->quiet = quiet->bytes + row * quiet->columns;
        }
    }
    o->redeploy_places = 0;
    u32 spendable = marked & goal_of(mover);
    if (spendable && own.archers < ARCHERS) {
        o->redeploy_places = home_of(mover) & ~o->archers;
        o->marks_left = pattern_of(marked & ~(spendable & -spendable), o->archers);
    }
}

static int points(int player, u32 archers) {
    return __builtin_popcount(archers) + __builtin_popcount(archers & goal_of(player));
}

/* The worth of the best action of `o` against these archers and marks of the other side. */
static u8 best_action(const Work *w, const Own *o, u32 e, int e_marks, const u32 *columns) {
    u8 best = 0;
    int e_patterns = pattern_count[w->other.archers][w->other.marks];
    int e_pattern = pattern_number[e_marks];
    for (int i = 0; i < o->moves; i++) {
        const Move *m = &o->move[i];
        u8 score;
        if (!(m->to & e)) {
            score = worth[m->quiet[columns[i] * (u32)e_patterns + (u32)e_pattern]];
        } else {
            u32 left = e & ~m->to;
            if (!left) {
                score = 254; /* the last archer: a win in one ply */
            } else {
                u32 e_marked = marked_of(e_marks, e);
                Side own = {w->own.archers, w->own.marks + !m->was_marked};
                Side other = {w->other.archers - 1, w->other.marks - ((e_marked & m->to) != 0)};
                const Block *block = block_of(!w->mover, other, own);
                u64 row = (u64)number_of(m->after) * (u64)pattern_count[own.archers][own.marks] +
                          (u64)pattern_number[m->marked];
                u64 column = (u64)number_of(squeeze(left, ~m->after)) *
                                 (u64)pattern_count[other.archers][other.marks] +
                             (u64)pattern_number[pattern_of(e_marked & left, left)];
                score = worth[block->bytes[row * block->columns + column]];
            }
        }
        if (score > best) best = score;
    }
    for (u32 places = o->redeploy_places & ~e; places; places &= places - 1) {
        u32 after = o->archers | (places & -places);
        u32 marked = marked_of(o->marks_left, o->archers);
        Side own = {w->own.archers + 1, w->own.marks - 1};
        const Block *block = block_of(!w->mover, w->other, own);
        u64 row = (u64)number_of(after) * (u64)pattern_count[own.archers][own.marks] +
                  (u64)pattern_number[pattern_of(marked, after)];
        u64 column =
            (u64)number_of(squeeze(e, ~after)) * (u64)e_patterns + (u64)e_pattern;
        u8 score = worth[block->bytes[row * block->columns + column]];
        if (score > best) best = score;
    }
    return best;
}

static void check_position(const Work *w, const Own *o, u32 e, int e_marks, const u32 *columns, u8 byte,
                           Tally *t) {
    t->checked++;
    u8 expected;
    if (!o->outside || !(e & ~goal_of(!w->mover))) {
        int ahead = points(w->mover, o->archers) - points(!w->mover, e);
        expected = ahead > 0 ? WON : ahead < 0 ? LOST : OVER_DRAWN;
        t->over++;
    } else {
        u8 best = best_action(w, o, e, e_marks, columns);
        expected = as_byte[best];
        if (best == 0) expected = (u8)~byte; /* no action at all, or a distance out of range */
        if (byte == DRAWN) t->drawn++;
        else if (byte % 2) t->won++;
        else t->lost++;
    }
    if (byte != expected) {
        if (t->wrong++ < 3) {
            char text[80];
            position_text(text, w->mover, o->archers, marked_of(o->marks, o->archers), e,
                          marked_of(e_marks, e));
            fprintf(stderr, "WRONG: %s has byte %d, expected %d\n", text, byte, expected);
        }
    }
    if (byte % 2 && byte >= WON && (byte - WON) / 2 > t->longest) {
        t->longest = (byte - WON) / 2;
        position_text(t->example, w->mover, o->archers, marked_of(o->marks, o->archers), e,
                      marked_of(e_marks, e));
    }
}

static void check_tile(const Work *w, u32 first, u32 end, Own *tile, Tally *t) {
    u32 count = end - first;
    const Block *block = block_of(w->mover, w->own, w->other);
    u32 own_patterns = (u32)pattern_count[w->own.archers][w->own.marks];
    int e_patterns = pattern_count[w->other.archers][w->other.marks];
    for (u32 i = 0; i < count; i++) prepare(&tile[i], w->mover, w->own, w->other, first + i);
    u32 columns[40];
    for (u32 number = 0; number < set_count[w->other.archers]; number++) {
        u32 e = sets[w->other.archers][number];
        u32 previous = 0;
        u64 column = 0;
        for (u32 i = 0; i < count; i++) {
            const Own *o = &tile[i];
            if (o->archers & e) continue;
            /* Own placements that differ in their marks alone lie side by side. */
            if (o->archers != previous) {
                previous = o->archers;
                column = (u64)number_of(squeeze(o->archers, ~e)) * own_patterns;
            }
            for (int m = 0; m < o->moves; m++)
                columns[m] = o->move[m].to & e ? 0 : number_of(squeeze(e, ~o->move[m].after));
            u64 at = column + (u64)pattern_number[o->marks];
            for (int p = 0; p < e_patterns; p++) {
                u64 row = (u64)number * (u64)e_patterns + (u64)p;
                check_position(w, o, e, pattern_set[w->other.archers][w->other.marks][p], columns,
                               block->bytes[row * block->columns + at], t);
            }
        }
    }
}

static void add(Tally *sum, const Tally *t) {
    sum->won += t->won, sum->drawn += t->drawn, sum->lost += t->lost, sum->over += t->over;
    sum->checked += t->checked, sum->wrong += t->wrong;
    if (t->longest > sum->longest) {
        sum->longest = t->longest;
        memcpy(sum->example, t->example, sizeof t->example);
    }
}

static void *check_some(void *argument) {
    Work *w = argument;
    Own *tile = malloc(sizeof(Own) * TILE);
    Tally t = {0};
    u32 all = set_count[w->own.archers] * (u32)pattern_count[w->own.archers][w->own.marks];
    for (;;) {
        pthread_mutex_lock(&w->lock);
        u32 first = w->next;
        w->next = first + TILE < all ? first + TILE : all;
        u32 end = w->next;
        pthread_mutex_unlock(&w->lock);
        if (first == end) break;
        check_tile(w, first, end, tile, &t);
    }
    pthread_mutex_lock(&w->lock);
    add(&w->tally, &t);
    pthread_mutex_unlock(&w->lock);
    free(tile);
    return NULL;
}

static Tally check_block(int mover, Side own, Side other, int threads) {
    Work w = {.mover = mover, .own = own, .other = other, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread[64];
    for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, check_some, &w);
    for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    return w.tally;
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int check_layer(int force, int threads) {
    double began = seconds(CLOCK_MONOTONIC), worked = seconds(CLOCK_PROCESS_CPUTIME_ID);
    Tally sides[2] = {{0}};
    for (int w = 1; w <= ARCHERS; w++)
        for (int b = 1; b <= ARCHERS; b++)
            for (int wm = 0; wm <= w; wm++) {
                int bm = force - w - b - wm;
                if (bm < 0 || bm > b) continue;
                Side white = {w, wm}, black = {b, bm};
                for (int mover = WHITE; mover <= BLACK; mover++) {
                    Tally t = mover == WHITE ? check_block(mover, white, black, threads)
                                             : check_block(mover, black, white, threads);
                    add(&sides[mover], &t);
                }
            }
    u64 checked = sides[0].checked + sides[1].checked, wrong = sides[0].wrong + sides[1].wrong;
    for (int mover = WHITE; mover <= BLACK; mover++) {
        Tally *t = &sides[mover];
        printf("force %d, %s to move: %lu won, %lu drawn, %lu lost, %lu over; longest win %d: %s\n", force,
               mover == WHITE ? "white" : "black", t->won, t->drawn, t->lost, t->over, t->longest,
               t->example);
    }
    printf("force %d: %lu of %lu positions checked, %lu wrong; %.0f s, %.0f s of CPU time\n", force,
           checked, layers[force].size, wrong, seconds(CLOCK_MONOTONIC) - began,
           seconds(CLOCK_PROCESS_CPUTIME_ID) - worked);
    fflush(stdout);
    return wrong == 0 && checked == layers[force].size;
}

static int circle(const char *name) { return 5 * (name[1] - '1') + (name[0] - 'A'); }

int main(int count, char **arguments) {
    if (count < 2) die("usage: check_tables FOLDER [FIRST FORCE [LAST FORCE]]", arguments[0]);
    int first = count > 2 ? atoi(arguments[2]) : LEAST;
    int last = count > 3 ? atoi(arguments[3]) : count > 2 ? first : MOST;
    for (const char *line = LINES; *line; line += line[5] ? 6 : 5) {
        int a = circle(line), b = circle(line + 3);
        near[a] |= 1u << b;
        near[b] |= 1u << a;
    }
    count_sets();
    rank_values();
    for (int force = LEAST; force <= MOST; force++) open_layer(arguments[1], force);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = processors < 1 ? 1 : processors > 64 ? 64 : (int)processors;
    int sound = 1, some = 0;
    for (int force = first; force <= last && force <= MOST; force++) {
        if (!layers[force].bytes) continue;
        for (int lower = LEAST; lower < force; lower++)
            if (!layers[lower].bytes) die("a lower force is missing", arguments[1]);
        sound &= check_layer(force, threads);
        some = 1;
    }
    if (!some) die("has no tables of these forces", arguments[1]);
    return sound ? 0 : 1;
}
