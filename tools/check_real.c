/* Checks the files of `lab real build`: that a side does not lose the placements it is said to hold, for
 * jarmo with the shuttle rule.
 *
 * It shares nothing with the program that made them. It was written from the rules and from docs/lab/real_rules.md,
 * in another language, and goes forwards where the solver goes backwards. It needs no tables. For every placement
 * with the bound side to move that is said to be held, with a history that the byte allows, some action must lead
 * to a placement that is held; for every placement with the free side to move that is not flagged as losing, all
 * actions must lead to placements that are held, and a finished game must not be lost. By induction the bound side
 * never loses: a game either ends without its loss or never ends.
 *
 *     cc -O3 -march=native -pthread -o check_real tools/check_real.c
 *     ./check_real FOLDER white            # all forces there
 *     ./check_real FOLDER black 7 8        # forces 7 to 8; lower ones are read only
 *
 * It exits with 1 if a placement is wrong.
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

enum { CIRCLES = 25, ARCHERS = 5, LEAST = 2, MOST = 10, HEADER = 64 };
enum { WHITE, BLACK };
enum { NEVER = 0, ALWAYS = 1, UNLESS = 2 }; /* bytes; from UNLESS: 4 * number of the move + streak - 1 */
enum { LOSES = 2, DEPENDS = 1 };            /* flags */
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

static const char LINES[] =
    "A1-B3 A1-C2 B1-A3 B1-D2 C1-A2 C1-D3 C1-E2 D1-B2 D1-C3 E1-C2 E1-D3 "
    "A2-C3 B2-C2 B2-B3 B2-C4 C2-D2 C2-E3 D2-D3 D2-B3 E2-D4 "
    "A3-B5 B3-C3 B3-B4 B3-A5 B3-C5 C3-A4 C3-E4 D3-D4 D3-B4 D3-E5 E3-D5 "
    "A4-C5 B4-C4 B4-D5 C4-D4 C4-A5 C4-E5 D4-B5 E4-C5";

static u32 near[CIRCLES];
static const u32 ROW1 = 31, ROW5 = 31u << 20; /* circle = 5 * row + column */
static u32 goal_of(int player) { return player == WHITE ? ROW5 : ROW1; }
static u32 home_of(int player) { return player == WHITE ? ROW1 : ROW5; }
static int count(u32 set) { return __builtin_popcount(set); }
static u32 lowest(u32 set) { return set & -set; }

static void die(const char *what, const char *which) {
    fprintf(stderr, "%s: %s\n", which, what);
    exit(2);
}

/* ---- Placements and their numbers ---- */

typedef struct {
    u32 archers[2], marked[2]; /* of White and Black */
    int mover;
} Place;

static u32 choose[CIRCLES + 1][ARCHERS + 1];
static u32 rank_low[1 << 13], rank_high[ARCHERS + 1][1 << 12]; /* by the members below bit 13 */
static u32 *sets[ARCHERS + 1];                                 /* by size, by number */

/* The number of a set among those of its size, in the order of their bits read as a number. */
static u32 slow_rank(u32 set) {
    u32 rank = 0;
    for (int k = 1; set; set &= set - 1, k++) rank += choose[__builtin_ctz(set)][k];
    return rank;
}

static u32 rank_of(u32 set) {
    return rank_low[set & 0x1fff] + rank_high[count(set & 0x1fff)][set >> 13];
}

static void prepare_sets(void) {
    for (int n = 0; n <= CIRCLES; n++)
        for (int k = 0; k <= ARCHERS; k++)
            choose[n][k] = k == 0 ? 1 : n == 0 ? 0 : choose[n - 1][k - 1] + choose[n - 1][k];
    for (int k = 0; k <= ARCHERS; k++) sets[k] = malloc(sizeof(u32) * choose[CIRCLES][k]);
    for (u32 set = 0; set < 1u << CIRCLES; set++)
        if (count(set) <= ARCHERS) sets[count(set)][slow_rank(set)] = set;
    for (u32 low = 0; low < 1 << 13; low++)
        if (count(low) <= ARCHERS) rank_low[low] = slow_rank(low);
    for (int below = 0; below <= ARCHERS; below++)
        for (u32 high = 0; high < 1 << 12; high++)
            if (count(high) + below <= ARCHERS)
                rank_high[below][high] = slow_rank(high << 13 | ((1u << below) - 1)) - slow_rank((1u << below) - 1);
}

/* `set` as places among the members of `among`, and the reverse. */
#ifdef __BMI2__
static u32 squeeze(u32 set, u32 among) { return __builtin_ia32_pext_si(set, among); }
static u32 spread(u32 set, u32 among) { return __builtin_ia32_pdep_si(set, among); }
#else
static u32 squeeze(u32 set, u32 among) {
    u32 out = 0;
    for (; set; set &= set - 1) out |= 1u << count(among & (lowest(set) - 1));
    return out;
}

static u32 spread(u32 set, u32 among) {
    u32 out = 0;
    for (; set; among &= among - 1, set >>= 1)
        if (set & 1) out |= lowest(among);
    return out;
}
#endif

/* By the archers and marks of the player to move, then of the other: the first placement of a block. */
static u64 starts[2][ARCHERS + 1][ARCHERS + 1][ARCHERS + 1][ARCHERS + 1];
static u64 sizes[MOST + 1]; /* placements of a force with one player to move */

static void number_blocks(int force) {
    u64 ends[2] = {0, 0};
    for (int w = 1; w <= ARCHERS; w++)
        for (int b = 1; b <= ARCHERS; b++)
            for (int wm = 0; wm <= w; wm++) {
                int bm = force - w - b - wm;
                if (bm < 0 || bm > b) continue;
                u64 all = (u64)choose[CIRCLES][w] * choose[w][wm] * choose[CIRCLES - w][b] * choose[b][bm];
                starts[WHITE][w][wm][b][bm] = ends[WHITE];
                starts[BLACK][b][bm][w][wm] = ends[BLACK];
                ends[WHITE] += all, ends[BLACK] += all;
            }
    sizes[force] = ends[WHITE];
}

static int force_of(const Place *p) {
    return count(p->archers[0] | p->archers[1]) + count(p->marked[0] | p->marked[1]);
}

static u64 number_of(const Place *p) {
    u32 own = p->archers[p->mover], other = p->archers[!p->mover];
    u32 own_marks = p->marked[p->mover], other_marks = p->marked[!p->mover];
    int a = count(own), am = count(own_marks), b = count(other), bm = count(other_marks);
    u64 row = (u64)rank_of(other) * choose[b][bm] + rank_of(squeeze(other_marks, other));
    u64 columns = (u64)choose[CIRCLES - b][a] * choose[a][am];
    u64 column = (u64)rank_of(squeeze(own, ~other)) * choose[a][am] + rank_of(squeeze(own_marks, own));
    return starts[p->mover][a][am][b][bm] + row * columns + column;
}

/* ---- Files ---- */

static int bound;
static const u8 *codes[MOST + 1], *flags[MOST + 1];

static void open_force(const char *folder, int force) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%02d.held", folder, bound == WHITE ? "white" : "black", force);
    int file = open(path, O_RDONLY);
    if (file < 0) return;
    struct stat about;
    fstat(file, &about);
    u8 *all = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (all == MAP_FAILED || memcmp(all, "JARMOHLD", 8)) die("is not such a file", path);
    if ((u64)about.st_size != HEADER + sizes[force] + (sizes[force] + 3) / 4) die("has the wrong size", path);
    codes[force] = all + HEADER;
    flags[force] = codes[force] + sizes[force];
}

static u8 code_of(const Place *p) { return codes[force_of(p)][number_of(p)]; }

static int flags_of(const Place *p) {
    u64 number = number_of(p);
    return flags[force_of(p)][number / 4] >> (2 * (number % 4)) & 3;
}

/* ---- Rules ---- */

typedef struct {
    u32 from, to; /* bits; from = 0: a redeploy */
} Action;

enum { MOST_ACTIONS = 48 };

/* Moves first, by origin and by target. */
static int actions_of(const Place *p, Action *out) {
    int n = 0;
    u32 own = p->archers[p->mover], goal = goal_of(p->mover);
    for (u32 rest = own & ~goal; rest; rest &= rest - 1)
        for (u32 open = near[__builtin_ctz(rest)] & ~own; open; open &= open - 1)
            out[n++] = (Action){lowest(rest), lowest(open)};
    if ((p->marked[p->mover] & goal) && count(own) < ARCHERS)
        for (u32 free = home_of(p->mover) & ~(own | p->archers[!p->mover]); free; free &= free - 1)
            out[n++] = (Action){0, lowest(free)};
    return n;
}

static Place play(const Place *p, Action action) {
    Place q = *p;
    int me = p->mover, other = !me;
    q.mover = other;
    q.archers[me] = (p->archers[me] & ~action.from) | action.to;
    if (!action.from) {
        q.marked[me] &= ~lowest(p->marked[me] & goal_of(me));
        return q;
    }
    int captures = (p->archers[other] & action.to) != 0;
    int was_marked = (p->marked[me] & action.from) != 0;
    q.marked[me] &= ~action.from;
    if (captures || was_marked) q.marked[me] |= action.to;
    q.archers[other] &= ~action.to;
    q.marked[other] &= ~action.to;
    return q;
}

static int is_over(const Place *p) {
    return !(p->archers[WHITE] & ~goal_of(WHITE)) || !(p->archers[BLACK] & ~goal_of(BLACK));
}

/* The score of the bound side, minus that of the other. */
static int lead(const Place *p) {
    int points[2];
    for (int i = 0; i < 2; i++) points[i] = count(p->archers[i]) + count(p->archers[i] & goal_of(i));
    return points[bound] - points[!bound];
}

/* The only action of the player to move is a move that the rule may forbid, because its reverse may have been the
 * last move: that does not start on the goal row. */
static int may_pass(const Place *p, const Action *actions, int n) {
    return n == 1 && actions[0].from && !(actions[0].to & goal_of(p->mover));
}

/* ---- The check ---- */

/* Whether the bound side, to move in p, holds after this last move with this streak. `last.from` = 0: no move. */
static int held(const Place *p, Action last, int streak) {
    if (is_over(p)) return lead(p) >= 0;
    u8 code = code_of(p);
    if (code < UNLESS) return code == ALWAYS;
    if (!last.from) return 1;
    Action actions[MOST_ACTIONS];
    int n = actions_of(p, actions), index = (code - UNLESS) / 4;
    if (index >= n) return 0; /* a damaged byte */
    Action only = actions[index];
    return !(only.from == last.to && only.to == last.from) || streak < (code - UNLESS) % 4 + 1;
}

/* Whether the bound side holds after all actions of the free side, which is to move in q. */
static int all_held(const Place *q, Action last, int streak) {
    Action replies[MOST_ACTIONS];
    int n = actions_of(q, replies);
    for (int i = 0; i < n; i++) {
        Place p = play(q, replies[i]);
        if (!p.archers[bound] || !held(&p, last, streak)) return 0;
    }
    if (may_pass(q, replies, n)) {
        Place p = *q;
        p.mover = !q->mover;
        if (!held(&p, last, streak)) return 0;
    }
    return 1;
}

/* Whether the bound side holds after this action of its own, made with this streak. */
static int holds(const Place *p, Action action, int streak) {
    Place q = play(p, action);
    if (!q.archers[!bound]) return 1;
    int flag = flags_of(&q); /* checked on its own */
    if (flag & LOSES) return 0;
    if (is_over(&q) || !action.from || (streak == 1 && !(flag & DEPENDS))) return 1;
    return all_held(&q, action, streak);
}

static int check_bound(const Place *p, u8 code) {
    if (code == NEVER) return 1;
    if (is_over(p)) return lead(p) >= 0;
    Action actions[MOST_ACTIONS];
    int n = actions_of(p, actions);
    if (code >= UNLESS) {
        int index = (code - UNLESS) / 4;
        return index < n && actions[index].from && holds(p, actions[index], (code - UNLESS) % 4 + 1);
    }
    int held_moves = 0;
    for (int i = 0; i < n; i++) {
        if (!holds(p, actions[i], 1)) continue;
        if (!actions[i].from || (actions[i].to & goal_of(bound))) return 1; /* never forbidden */
        if (++held_moves == 2) return 1;                                   /* the rule forbids one move */
    }
    if (n != 1 || !held_moves || !holds(p, actions[0], 4)) return 0;
    Place q = *p; /* after the forced pass; one of the other side, before or next, ends the game */
    q.mover = !bound;
    Action replies[MOST_ACTIONS];
    int more = actions_of(&q, replies);
    return !(flags_of(&q) & LOSES) && (lead(p) >= 0 || !may_pass(&q, replies, more));
}

static int check_free(const Place *q, int flag) {
    if (flag & LOSES) return 1;
    if (is_over(q)) return lead(q) >= 0;
    Action replies[MOST_ACTIONS];
    int n = actions_of(q, replies);
    for (int i = 0; i <= n; i++) {
        Place p = *q;
        p.mover = bound;
        if (i < n) p = play(q, replies[i]);
        else if (!may_pass(q, replies, n)) break;
        if (!p.archers[bound]) return 0;
        if (is_over(&p)) {
            if (lead(&p) < 0) return 0;
            continue;
        }
        u8 code = code_of(&p);
        if (code == NEVER) return 0;
        if (!(flag & DEPENDS) && code >= UNLESS && (code - UNLESS) % 4 == 0) return 0;
    }
    return 1;
}

typedef struct {
    int mover, own, own_marks, other, other_marks; /* numbers of archers and marks */
    u32 next; /* the next row, shared */
    pthread_mutex_t lock;
    u64 claims, wrong, all;
} Work;

static void *check_rows(void *argument) {
    Work *w = argument;
    u32 patterns = choose[w->other][w->other_marks], own_patterns = choose[w->own][w->own_marks];
    u32 rows = choose[CIRCLES][w->other] * patterns, columns = choose[CIRCLES - w->other][w->own];
    u64 claims = 0, wrong = 0, all = 0;
    for (;;) {
        u32 row = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED);
        if (row >= rows) break;
        Place p = {.mover = w->mover};
        p.archers[!w->mover] = sets[w->other][row / patterns];
        p.marked[!w->mover] = spread(sets[w->other_marks][row % patterns], p.archers[!w->mover]);
        for (u32 column = 0; column < columns; column++) {
            u32 own = spread(sets[w->own][column], ~p.archers[!w->mover]);
            p.archers[w->mover] = own;
            for (u32 pattern = 0; pattern < own_patterns; pattern++) {
                p.marked[w->mover] = spread(sets[w->own_marks][pattern], own);
                int sound;
                if (w->mover == bound) {
                    u8 code = code_of(&p);
                    claims += code != NEVER;
                    sound = check_bound(&p, code);
                } else {
                    int flag = flags_of(&p);
                    claims += !(flag & LOSES);
                    sound = check_free(&p, flag);
                }
                all++;
                if (!sound && wrong++ < 3)
                    fprintf(stderr, "WRONG: white %x marked %x, black %x marked %x, %s to move\n", p.archers[0],
                            p.marked[0], p.archers[1], p.marked[1], p.mover == WHITE ? "white" : "black");
            }
        }
    }
    pthread_mutex_lock(&w->lock);
    w->claims += claims, w->wrong += wrong, w->all += all;
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int check_force(int force, int threads) {
    double began = seconds(CLOCK_MONOTONIC), worked = seconds(CLOCK_PROCESS_CPUTIME_ID);
    u64 claims[2] = {0, 0}, wrong = 0, all = 0;
    for (int w = 1; w <= ARCHERS; w++)
        for (int b = 1; b <= ARCHERS; b++)
            for (int wm = 0; wm <= w; wm++) {
                int bm = force - w - b - wm;
                if (bm < 0 || bm > b) continue;
                for (int mover = WHITE; mover <= BLACK; mover++) {
                    Work work = {mover, mover ? b : w, mover ? bm : wm, mover ? w : b, mover ? wm : bm, 0,
                                 PTHREAD_MUTEX_INITIALIZER, 0, 0, 0};
                    pthread_t thread[64];
                    for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, check_rows, &work);
                    for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
                    claims[mover == bound] += work.claims, wrong += work.wrong, all += work.all;
                }
            }
    printf("force %d, %s bound: of %lu placements with it to move it holds %lu, of as many with the other side to "
           "move %lu; %lu wrong; %.0f s, %.0f s of CPU time\n",
           force, bound == WHITE ? "white" : "black", all / 2, claims[1], claims[0], wrong,
           seconds(CLOCK_MONOTONIC) - began, seconds(CLOCK_PROCESS_CPUTIME_ID) - worked);
    fflush(stdout);
    return wrong == 0 && all == 2 * sizes[force];
}

static int circle(const char *name) { return 5 * (name[1] - '1') + (name[0] - 'A'); }

int main(int n, char **arguments) {
    if (n < 3 || (strcmp(arguments[2], "white") && strcmp(arguments[2], "black")))
        die("usage: check_real FOLDER white|black [FIRST FORCE [LAST FORCE]]", arguments[0]);
    bound = strcmp(arguments[2], "white") ? BLACK : WHITE;
    int first = n > 3 ? atoi(arguments[3]) : LEAST;
    int last = n > 4 ? atoi(arguments[4]) : n > 3 ? first : MOST;
    for (const char *line = LINES; *line; line += line[5] ? 6 : 5) {
        int a = circle(line), b = circle(line + 3);
        near[a] |= 1u << b;
        near[b] |= 1u << a;
    }
    prepare_sets();
    for (int force = LEAST; force <= MOST; force++) {
        number_blocks(force);
        open_force(arguments[1], force);
    }
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = processors < 1 ? 1 : processors > 64 ? 64 : (int)processors;
    int sound = 1, some = 0;
    for (int force = first; force <= last && force <= MOST; force++) {
        if (!codes[force]) continue;
        for (int lower = LEAST; lower < force; lower++)
            if (!codes[lower]) die("a lower force is missing", arguments[1]);
        sound &= check_force(force, threads);
        some = 1;
    }
    if (!some) die("has no files of these forces", arguments[1]);
    if (codes[MOST]) {
        Place start = {{ROW1, ROW5}, {0, 0}, WHITE};
        int holds_start = bound == WHITE ? code_of(&start) != NEVER : !(flags_of(&start) & LOSES);
        printf("%s %s the start\n", arguments[2], holds_start ? "holds" : "is not known to hold");
    }
    return sound ? 0 : 1;
}
