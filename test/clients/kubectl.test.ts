/**
 * Tests Debian's kubectl against a real server in shell sessions. The output, errors and exit code of each step are
 * compared exactly. The steps of a session build on each other. Each session has its own home directory and namespace,
 * and sessions run in parallel on one server. The short variant covers writes. The long variant also covers reads,
 * rejections and additional kinds.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { serveUp } from '../support/in-process.ts'
import { kubectlFor } from '../support/kubectl-shell.ts'
import { long } from '../support/long.ts'
import { withoutRootCa } from '../support/server.ts'
import { parseTranscript, writeOutcome } from '../support/transcript.ts'

const sessions = [
  'writing',
  ...(long ? ['declaring', 'reading', 'refusals', 'kinds', 'discovering', 'workloads', 'services'] : []),
]

// The transcripts show volumes in their initial phase, so no control loop may change the phase of a volume. The
// transcripts also specify some cluster IPs, so the range is large enough that no other Service gets the same IP.
const server = await serveUp({ after }, [
  ...['--profile=kubernetes', `${withoutRootCa},-persistentvolume-binder`],
  '--service-cluster-ip-range=10.0.0.0/16',
])

describe('kubectl', { concurrency: 2 }, () => {
  for (const session of sessions) describe(session, { concurrency: 1 }, () => follow(session))
})

function follow(session: string): void {
  const kubectl = kubectlFor(server, session)
  const transcript = readFileSync(join(import.meta.dirname, 'transcripts', `${session}.txt`), 'utf8')
  const steps = parseTranscript(transcript).filter(({ isLong }) => long || !isLong)
  for (const { heading, command, input, outcome } of steps)
    test(`${heading}: ${command}`, async () => {
      assert.equal(writeOutcome(await kubectl.run(command, input)), writeOutcome(outcome))
    })
}
