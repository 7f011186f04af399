/* object_parts.c -- compiled alone, and mapped by mapped_object.c by hand: three functions that need nobody; each takes one, two, three parts of the time */
#define TURNS 100000

unsigned long part_one(void)
{
    unsigned long sum = 1;
    for (unsigned long i = 0; i < TURNS; i++)
        sum = sum * 6364136223846793005UL + i;
    return sum;
}

unsigned long part_two(void)
{
    unsigned long sum = 3;
    for (unsigned long i = 0; i < TURNS; i++)
        sum = (sum ^ (sum >> 7)) + i;
    return sum;
}

unsigned long part_three(void)
{
    unsigned long sum = 5;
    for (unsigned long i = 0; i < TURNS; i++)
        sum = sum * 3 + (sum >> 11);
    return sum;
}
