/** Opens pages in a real headless browser and runs code in them. Controls the browser with the DevTools protocol. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ending } from './server.ts'

export interface Browser {
  /** Opens a page, runs the body of an async function in the page and returns the result. */
  run(url: string, body: string): Promise<unknown>
}

interface Message {
  readonly id?: number
  readonly result?: { readonly [name: string]: unknown }
  readonly error?: { readonly message: string }
}

type Send = (method: string, params: object, sessionId?: string) => Promise<NonNullable<Message['result']>>

/** The browser does not verify certificates, because it does not trust the test CA. */
export async function startChromium(t: Ending): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'orch-chromium-'))
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run']
  const more = ['--ignore-certificate-errors', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank']
  const child = spawn('chromium', [...flags, ...more], { stdio: ['ignore', 'ignore', 'pipe'] })
  const closed = once(child, 'close')
  t.after(async () => {
    child.kill('SIGKILL')
    await closed
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  })
  const send = await protocolOf(await addressIn(child.stderr))
  return { run: (url, body) => runIn(send, url, body) }
}

async function addressIn(output: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const chunk of output) {
    text += chunk
    const match = /DevTools listening on (ws:\S+)/.exec(text)
    if (match !== null) return match[1]!
  }
  throw new Error(`chromium did not start: ${text}`)
}

async function protocolOf(address: string): Promise<Send> {
  const socket = new WebSocket(address)
  await once(socket, 'open')
  const waiting = new Map<number, PromiseWithResolvers<NonNullable<Message['result']>>>()
  socket.addEventListener('message', ({ data }) => {
    const { id = 0, result = {}, error } = JSON.parse(String(data)) as Message
    if (error !== undefined) waiting.get(id)?.reject(new Error(error.message))
    else waiting.get(id)?.resolve(result)
    waiting.delete(id)
  })
  let last = 0
  return async (method, params, sessionId) => {
    const answer = Promise.withResolvers<NonNullable<Message['result']>>()
    waiting.set(++last, answer)
    socket.send(JSON.stringify({ id: last, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
    return await answer.promise
  }
}

async function runIn(send: Send, url: string, body: string): Promise<unknown> {
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = (await send('Target.attachToTarget', { targetId, flatten: true })) as { sessionId: string }
  await send('Page.enable', {}, sessionId)
  await send('Page.navigate', { url }, sessionId)
  // The code must run in the new page rather than in the previous page.
  const expression = `location.href === ${JSON.stringify(url)} ? (async () => { ${body} })() : undefined`
  for (;;) {
    const evaluated = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }, sessionId)
    const { result, exceptionDetails } = evaluated as { result: { value?: unknown }; exceptionDetails?: object }
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails).slice(0, 2000))
    if (result.value !== undefined) return result.value
    await pause(20)
  }
}
