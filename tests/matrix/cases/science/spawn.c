/* spawn.c -- a process of MPI that starts another by MPI_Comm_spawn and hears from it */
#include <mpi.h>
#include <stdio.h>

int main(int count, char **words)
{
    MPI_Comm parent, child;
    int answer = 42;
    MPI_Init(&count, &words);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(words[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
        MPI_Recv(&answer, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
        printf("the child says %d\n", answer);
        MPI_Comm_disconnect(&child);
    } else {
        MPI_Send(&answer, 1, MPI_INT, 0, 0, parent);
        MPI_Comm_disconnect(&parent);
    }
    return MPI_Finalize();
}
