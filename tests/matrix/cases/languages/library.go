// library.go -- Go inside another program: called on threads that it does not know, with faults that it recovers from and garbage to collect
package main

import "C"

import (
	"runtime"
	"sync"
)

type node struct{ left, right *node }

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

func (n *node) count() int {
	if n.left == nil {
		return 1
	}
	return 1 + n.left.count() + n.right.count()
}

//export Work
func Work(rounds C.int) C.int {
	var all sync.WaitGroup
	var mutex sync.Mutex
	total := 0
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for j := 0; j < int(rounds); j++ {
				count := tree(11).count()
				mutex.Lock()
				total += count
				mutex.Unlock()
				runtime.Gosched()
			}
		}()
	}
	all.Wait()
	return C.int(total)
}

//export Faults
func Faults(rounds C.int) C.int {
	count := 0
	for i := 0; i < int(rounds); i++ {
		func() {
			defer func() {
				if recover() != nil {
					count++
				}
			}()
			var none *node
			_ = none.count()
		}()
	}
	return C.int(count)
}

func main() {}
