-- work.hs -- GHC's threaded runtime: a thread, a map, an exception
import Control.Concurrent
import Control.Exception
import qualified Data.Map.Strict as Map

main :: IO ()
main = do
  answer <- newEmptyMVar
  _ <- forkIO (putMVar answer $! sum [x `mod` 7 | x <- [1 .. 3000000 :: Int]])
  takeMVar answer >>= print
  print (Map.foldl' (+) 0 (Map.fromList [(i `mod` 5003, i) | i <- [1 .. 100000 :: Int]]))
  result <- try (evaluate (1 `div` (0 :: Int))) :: IO (Either ArithException Int)
  print result
