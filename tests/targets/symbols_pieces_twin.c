/* symbols_pieces_twin.c -- a second `checked` with cold code, for symbols_pieces.c */
extern volatile unsigned long sink;

__attribute__((cold)) void complain(unsigned long value);
void twin(unsigned long count);

static __attribute__((noinline)) void checked(unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        sink ^= i;
        if (__builtin_expect(sink > 100000, 0)) {
            complain(i + 1);
            complain(sink);
            sink = i % 19;
        }
    }
}

void twin(unsigned long count)
{
    checked(count);
}
