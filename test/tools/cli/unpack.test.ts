/** Tests invalid or truncated archives from containers: no file remains open, and nothing else is unpacked. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { unpackInto } from '../../../src/tools/cli/streaming/unpack.ts'
import { entryHeader, padding, TarReader } from '../../../src/wire/streaming/tar.ts'

const target = mkdtempSync(join(tmpdir(), 'orchctl-unpack-'))
after(() => rmSync(target, { recursive: true }))

const header = (name: string, size: number) => entryHeader({ name, type: 'file', mode: 0o600, size }, 0)

function file(name: string, text: string): Buffer {
  return Buffer.concat([header(name, text.length), Buffer.from(text), padding(text.length)])
}

/** Returns the files in the target that this process has open. */
function openFiles(): string[] {
  const links = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return ''
    }
  })
  return links.filter((link) => link.startsWith(`${target}/`))
}

const reader = () => new TarReader(unpackInto({ prefix: 'dir', target, warn: () => {} }))

test('a tar archive that ends within a file leaves no file open', async () => {
  const broken = reader()
  await broken.write(Buffer.concat([file('dir/whole', 'text'), header('dir/half', 1000), Buffer.from('half of it')]))
  await assert.rejects(async () => await broken.end(), /ended in the middle of a file/)
  assert.deepEqual(openFiles(), [])
})

test('after an error, nothing more is extracted from a tar archive', async () => {
  for (const [name, fault, expected] of [
    ['junk', Buffer.alloc(512, 'x'), /^UsageError: not a valid tar archive$/],
    ['outside', file('dir/../../out', 'x'), /outside of the target/],
  ] as const) {
    const broken = reader()
    await assert.rejects(broken.write(Buffer.concat([file(`dir/${name}-before`, 'before'), fault])), expected)
    await assert.rejects(broken.write(file(`dir/${name}-after`, 'after')), expected)
    assert.equal(readFileSync(join(target, `${name}-before`), 'utf8'), 'before')
    assert.deepEqual(
      readdirSync(target).filter((found) => found.endsWith('-after')),
      [],
    )
    assert.deepEqual(openFiles(), [])
  }
})

test('a file that cannot be written during extraction is closed', async () => {
  const unpacker = unpackInto({ prefix: 'dir', target, warn: () => {} })
  const failing = new TarReader({
    ...unpacker,
    entry: async (entry) => {
      await unpacker.entry(entry)
      return async () => {
        throw new Error('no space left')
      }
    },
  })
  await assert.rejects(failing.write(file('dir/full', 'text')), /no space left/)
  assert.deepEqual(openFiles(), [])
})
