/** The file of static tokens, changed while the server runs: also on open connections, and never half of it. */
import assert from 'node:assert/strict'
import { appendFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startServer, tokens } from '../tools/server.ts'
import { agentOf, until, whoIs } from '../tools/who.ts'

const secret = 'canary-7f3a'

test('a file of tokens that changes', { timeout: 300_000 }, async (t) => {
  const server = await startServer(t)
  const file = join(server.directory, 'tokens.csv')
  const put = (text: string) => {
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
  const agent = agentOf(server)
  t.after(() => agent.destroy())
  const bob = async () => await whoIs(server, { agent, token: 'bob-token' })
  const statusOf = async (token: string) => (await whoIs(server, { token })).status
  assert.equal((await bob()).user, 'bob')

  await t.test('tokens come, go and change hands, on open connections too', async () => {
    put(`${tokens.replace('bob-token,bob', 'bob-token,robert')}${secret},new,new-uid,"a,b"\n`)
    await until(bob, ({ user }) => user === 'robert')
    assert.deepEqual((await whoIs(server, { token: secret })).groups, ['a', 'b', 'system:authenticated'])
    put(tokens.replace(/^bob.*$/m, ''))
    await until(bob, ({ status }) => status === 401)
    assert.equal(await statusOf(secret), 401)
    assert.equal(await statusOf('alice-token'), 201)
  })

  await t.test('written in place, and reached over a link', async () => {
    appendFileSync(file, `${secret},appended,uid\n`)
    await until(
      () => whoIs(server, { token: secret }),
      ({ user }) => user === 'appended',
    )
    writeFileSync(`${file}.elsewhere`, `${tokens}${secret},linked,uid\n`)
    symlinkSync(`${file}.elsewhere`, `${file}.link`)
    renameSync(`${file}.link`, file)
    await until(
      () => whoIs(server, { token: secret }),
      ({ user }) => user === 'linked',
    )
    writeFileSync(`${file}.elsewhere`, `${tokens}${secret},behind-the-link,uid\n`)
    await until(
      () => whoIs(server, { token: secret }),
      ({ user }) => user === 'behind-the-link',
    )
  })

  await t.test('a bad file keeps the one before, and says which line', async () => {
    const bad: { readonly [text: string]: RegExp } = {
      [`${tokens}${secret}-2,x\n`]: /tokens\.csv: line 4: at least three columns/,
      [`${secret}-2,"x,y\n`]: /tokens\.csv: line 1: a quote is not closed/,
      [`${secret}-2,a,1\n\n${secret}-2,b,2\n`]: /tokens\.csv: line 3: the token of this line occurs more than once/,
    }
    for (const [text, fault] of Object.entries(bad)) {
      put(text)
      await until(
        async () => server.output(),
        (log) => fault.test(log),
      )
      assert.equal(await statusOf(secret), 201)
      assert.equal(await statusOf(`${secret}-2`), 401)
    }
    rmSync(file)
    await until(
      async () => server.output(),
      (log) => /--token-auth-file: cannot read/.test(log),
    )
    assert.equal(await statusOf(secret), 201)
    put('')
    await until(
      () => statusOf(secret),
      (status) => status === 401,
    )
    assert.equal(await statusOf('admin-token'), 401)
  })

  put(tokens)
  await until(
    () => statusOf('admin-token'),
    (status) => status === 201,
  )
  assert.ok(!server.output().includes(secret), 'a token is in the log')
  assert.ok(!(await server.client().get('/metrics')).text.includes(secret), 'a token is in the metrics')
})
