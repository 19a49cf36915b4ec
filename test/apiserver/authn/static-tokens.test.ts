/**
 * Tests changes to the static token file while the server is running. Changes also take effect on open connections, and
 * are never applied partially.
 */
import assert from 'node:assert/strict'
import { appendFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { agentOf, authenticatedUser, until } from '../../support/authenticated-user.ts'
import { serve } from '../../support/in-process.ts'
import { tokens } from '../../support/server.ts'

const secret = 'canary-7f3a'

test('changes to the static token file take effect', { timeout: 300_000 }, async (t) => {
  const server = await serve(t)
  const file = join(server.directory, 'tokens.csv')
  const kept = `${secret},kept,uid,"a,b"\n`
  const all = `${tokens}${kept}link-1,link,uid\nbehind,behind,uid\n`
  const put = (text: string) => {
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
  put(all)
  await server.stop()
  await server.restart()
  const agent = agentOf(server)
  t.after(() => agent.destroy())
  const bob = async () => await authenticatedUser(server, { agent, token: 'bob-token' })
  const statusOf = async (token: string) => (await authenticatedUser(server, { token })).status
  assert.equal((await bob()).user, 'bob')

  await t.test('changed or removed static tokens become invalid, even on open connections', async () => {
    put(`${all.replace('bob-token,bob', 'bob-token,robert')}${secret}-2,new,new-uid,"a,b"\n`)
    await until(bob, ({ status }) => status === 401)
    assert.match(server.output(), / take effect only after a restart flag="--token-auth-file" tokens=2/)
    assert.equal(await statusOf(`${secret}-2`), 401)
    assert.deepEqual([await statusOf('alice-token'), await statusOf(secret)], [201, 201])
    put(all)
    await until(
      async () => server.output().split(' take effect only after a restart').length,
      (times) => times === 3,
    )
    assert.equal((await bob()).status, 401)
  })

  await t.test('a static token file may be changed in place or through a symbolic link', async () => {
    appendFileSync(file, `${secret}-2,appended,uid\n`)
    await until(
      async () => server.output(),
      (log) => / take effect only after a restart .*tokens=2.* take effect only after a restart .*tokens=2/s.test(log),
    )
    writeFileSync(`${file}.elsewhere`, all.replace(/^link.*$/m, ''))
    symlinkSync(`${file}.elsewhere`, `${file}.link`)
    renameSync(`${file}.link`, file)
    await until(
      () => statusOf('link-1'),
      (status) => status === 401,
    )
    assert.equal(await statusOf('behind'), 201)
    writeFileSync(`${file}.elsewhere`, tokens + kept)
    await until(
      () => statusOf('behind'),
      (status) => status === 401,
    )
  })

  await t.test(
    'the error for an invalid static token file contains the line number, and the previous tokens stay valid',
    async () => {
      const bad: { readonly [text: string]: RegExp } = {
        [`${tokens}${secret}-2,x\n`]: /tokens\.csv: line 4: at least three columns/,
        [`${secret}-2,"x,y\n`]: /tokens\.csv: line 1: a quote is not closed/,
        [`${secret}-2,a,1\n\n${secret}-2,b,2\n`]: /tokens\.csv: line 3: the token on this line occurs more than once/,
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
      put('\n')
      await until(
        () => statusOf(secret),
        (status) => status === 401,
      )
      assert.equal(await statusOf('admin-token'), 401)
    },
  )

  put(`,nobody,uid\n${tokens}${secret},named,\n`)
  await server.stop()
  await server.restart()
  assert.match(server.output(), /skipped a line without a token in the token file .*tokens\.csv" line=1\n/)
  assert.deepEqual([(await bob()).user, (await authenticatedUser(server, { token: secret })).user], ['bob', 'named'])
  assert.ok(!server.output().includes(secret), 'a token is in the log')
  assert.ok(!(await server.client().get('/metrics')).text.includes(secret), 'a token is in the metrics')
})
