/**
 * Replays the recorded cases with `--http-engine=node`. All cases that pass with this server's own engine must also
 * pass with Node's. The kit that contains the cases is not part of this repository. It is expected next to the checkout
 * or at ORCH_KIT. Without the kit, the test is skipped.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { root, startServer } from '../../support/server.ts'

const kit = process.env.ORCH_KIT ?? join(root, '../shared/conformance')
const skip = existsSync(join(kit, 'replay.mjs')) ? false : `there is no kit at ${kit}`

/** Returns the names of the failed cases, and the number of cases that passed. */
async function replay(t: TestContext, engine: string): Promise<{ passed: number; failed: string[] }> {
  const server = await startServer(t, [
    `--http-engine=${engine}`,
    ...['--authorization-mode=Node,RBAC', '--enable-bootstrap-token-auth'],
  ])
  // Use the kit's users instead of the users in the helper's file.
  await server.stop()
  copyFileSync(join(kit, 'tokens.csv'), join(server.directory, 'tokens.csv'))
  await server.restart()
  const child = spawn(process.execPath, [join(kit, 'replay.mjs'), '--server', server.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const text = (await child.stdout.toArray()).join('')
  await server.stop()
  const passed = Number(/^(\d+) passed, \d+ failed$/m.exec(text)?.[1])
  return { passed, failed: [...text.matchAll(/^not ok {2}(.*)$/gm)].map(([, name]) => name!) }
}

test('every conformance recording that passes on the built-in HTTP engine also passes on the Node.js engine', {
  skip,
}, async (t) => {
  // Run both replays concurrently, because the cases spend most of their time waiting for watches to end.
  const [own, node] = await Promise.all([replay(t, 'orch'), replay(t, 'node')])
  assert.ok(own.passed > 0, 'no case was replayed')
  assert.deepEqual(
    node.failed.filter((name) => !own.failed.includes(name)),
    [],
  )
})
