// Runs test files in one process, one after another, as the runner (`test/run.ts`) assigns them. Loading and warming up
// the sources takes longer than most files, so it happens once for many. Each file is a suite named by its path, with
// its own hooks, and starts after the previous one has ended completely. Reports the time of each file, including the
// programs that it started. This is plain JavaScript, like everything that each process loads.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { placeFor } from './scratch.mjs'

const givenVersion = process.env.ORCH_TEST_VERSION

for (;;) {
  const told = once(process, 'message')
  process.send({ next: true })
  const [file] = await told
  if (file === '') break
  const before = { ms: performance.now(), cpuMs: cpuMs() }
  // A test may wait for something that does not keep the process alive, such as the retry of a loop.
  const held = setInterval(() => {}, 60_000)
  process.env.TMPDIR = placeFor(file)
  // The version for a file that runs at several versions (`versions.ts`). Each version is a separate module.
  const [, version] = file.split('?version=')
  setVersion(version ?? givenVersion)
  suite(file, () => import(file))
  await ended(file)
  clearInterval(held)
  process.send({ file, ms: performance.now() - before.ms, cpuMs: cpuMs() - before.cpuMs })
}

function setVersion(version) {
  if (version === undefined) delete process.env.ORCH_TEST_VERSION
  else process.env.ORCH_TEST_VERSION = version
}

// A test after the suite runs when the suite has ended, even if hooks fail. The reporter omits this test.
function ended(file) {
  return new Promise((resolve) => void test(`end of ${file}`, resolve))
}

// CPU time of this process and its exited children. Node reports only its own, so the rest is read from /proc if
// possible. There, it is in hundredths of a second, after the program name, which may contain any character.
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
