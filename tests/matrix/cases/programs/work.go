// work.go -- goroutines, garbage, a child, and C by cgo
package main

/*
static long spin(long n) { volatile long x = 0; for (long i = 0; i < n; i++) x += i % 3; return x; }
*/
import "C"
import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

func main() {
	var group sync.WaitGroup
	sums := make([]int64, 8)
	for i := range sums {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for n := 0; n < 2000000; n++ {
				sums[i] += int64(n % (i + 3))
			}
			sums[i] += int64(C.spin(1000000))
			garbage := [][]byte{}
			for n := 0; n < 200; n++ {
				garbage = append(garbage, make([]byte, 10000))
			}
			sums[i] += int64(len(garbage))
		}(i)
	}
	group.Wait()
	text, err := exec.Command("echo", "from a child").Output()
	fmt.Print(sums, " ", string(text), err, "\n")
	came := make(chan os.Signal, 1)
	signal.Notify(came, syscall.SIGUSR1)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	select {
	case which := <-came:
		fmt.Println(which)
	case <-time.After(5 * time.Second):
		fmt.Println("no signal")
	}
	defer func() { fmt.Println("recovered:", recover() != nil) }()
	var nowhere *int
	*nowhere = 1
}
