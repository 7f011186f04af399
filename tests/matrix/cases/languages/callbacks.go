// callbacks.go -- C calls Go on threads of both, under the own profiler of Go: goroutines, recovered faults, signals, a child
package main

/*
#include <stdint.h>
#include <pthread.h>
#include <signal.h>
extern int goCb(int);
static int cwork(int n){ int s=0; for(int i=0;i<n;i++) s+=goCb(i); return s; }
static void *thr(void*a){ volatile int s=0; for(int i=0;i<2000;i++) s+=goCb(i); return (void*)(intptr_t)s; }
static long threads(void){ pthread_t t[8]; long r=0; for(int i=0;i<8;i++) pthread_create(t+i,0,thr,0); for(int i=0;i<8;i++){void*v;pthread_join(t[i],&v);r+=(long)v;} return r; }
*/
import "C"
import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
)

//export goCb
func goCb(n C.int) C.int { return n % 7 }
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}
func main() {
	var b bytes.Buffer
	pprof.StartCPUProfile(&b)
	fmt.Println(C.cwork(20000), C.threads())
	var w sync.WaitGroup
	r := make([]int, 2000)
	for i := range r {
		w.Add(1)
		go func(i int) {
			defer w.Done()
			defer func() {
				if recover() != nil {
					r[i] = -1
				}
			}()
			r[i] = fib(10 + i%15)
			if i%100 == 0 {
				var p *int
				*p = 1
			}
		}(i)
	}
	w.Wait()
	s := 0
	for _, v := range r {
		s += v
	}
	fmt.Println(s)
	c := make(chan os.Signal, 10)
	signal.Notify(c, syscall.SIGUSR1, syscall.SIGPROF, syscall.SIGALRM)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	fmt.Println(<-c)
	signal.Stop(c)
	pprof.StopCPUProfile()
	fmt.Println(b.Len() > 0)
	for i := 0; i < 20; i++ {
		runtime.GC()
	}
	o, _ := exec.Command("sh", "-c", "echo child; kill -9 $$").CombinedOutput()
	fmt.Print(string(o))
	select {
	case <-time.After(10 * time.Millisecond):
		fmt.Println("timer")
	}
	runtime.LockOSThread()
	defer func() { fmt.Println(recover()); os.Exit(3) }()
	var m map[string]int
	m["a"] = 1
}
