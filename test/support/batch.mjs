// Runs test files in one process, one after another, as the runner (`test/run.ts`) hands them over. To load the sources
// and to make them fast takes longer than most files do, and so it is done once for many. Each file is a suite under its
// own path, with hooks of its own, and begins when the one before has ended all that it had started. Tells the runner what
// each has taken, with the programs that it started. Plain JavaScript, as everything that each process loads.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { placeFor } from './scratch.mjs'

for (;;) {
  const told = once(process, 'message')
  process.send({ next: true })
  const [file] = await told
  if (file === '') break
  const before = { ms: performance.now(), cpuMs: cpuMs() }
  // A test may wait for what keeps no process going by itself, as a retry of a loop does.
  const held = setInterval(() => {}, 60_000)
  process.env.TMPDIR = placeFor(file)
  suite(file, () => import(file))
  await ended(file)
  clearInterval(held)
  process.send({ file, ms: performance.now() - before.ms, cpuMs: cpuMs() - before.cpuMs })
}

// A test after the suite has its turn when the suite is over, hooks that fail included. The reporter leaves it out.
function ended(file) {
  return new Promise((resolve) => void test(`end of ${file}`, resolve))
}

// Of this process and of its children that have ended. Node tells of itself alone, so the rest is read from the system
// where it says that: in hundredths of a second, after the name of the program, which may hold any character.
function cpuMs() {
  const { user, system } = process.cpuUsage()
  const own = (user + system) / 1000
  if (process.platform !== 'linux') return own
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const [childrenUser, childrenSystem] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15)
  return own + (Number(childrenUser) + Number(childrenSystem)) * 10
}
