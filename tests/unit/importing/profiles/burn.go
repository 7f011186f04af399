package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"sync"
)

func square(x float64) float64 { return x * x }

//go:noinline
func leaf(n int) float64 {
	s := 0.0
	for i := 0; i < n; i++ {
		s += square(float64(i)) / float64(i+1)
	}
	return s
}

//go:noinline
func descend(depth, n int) float64 {
	if depth == 0 {
		return leaf(n)
	}
	return descend(depth-1, n) + 1
}

func main() {
	file, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(file)
	var group sync.WaitGroup
	for _, name := range []string{"reader", "writer"} {
		group.Add(1)
		go pprof.Do(context.Background(), pprof.Labels("worker", name), func(context.Context) {
			defer group.Done()
			fmt.Fprintln(os.Stderr, descend(3, 200000000))
		})
	}
	group.Wait()
	pprof.StopCPUProfile()
	file.Close()
}
