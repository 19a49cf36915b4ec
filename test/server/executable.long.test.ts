/**
 * Tests the files that `npm run package` builds. The executable runs in a root directory that contains only its
 * libraries, and its data survives SIGKILL. The container image runs as an unprivileged user with a read-only root. The
 * Debian package installs both programs, their manual pages and a systemd unit. Two builds are identical.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Ran, runCommand } from '../support/run-command.ts'
import { root } from '../support/server.ts'

interface Packaging {
  readonly packageExecutable: (directory: string) => Promise<string>
  readonly packageImage: (parts: { executable: string; notices: string; version: string; archive: string }) => void
  readonly packageDebian: (parts: {
    executable: string
    notices: string
    version: string
    directory: string
  }) => Promise<string>
}

const maxImageBytes = 60e6
const { packageExecutable } = (await import(join(root, 'scripts/package/executable.mjs'))) as Packaging
const { packageDebian } = (await import(join(root, 'scripts/package/debian.mjs'))) as Packaging
const { packageImage } = (await import(join(root, 'scripts/package/image.mjs'))) as Packaging

/** Builds the executable, the image archive and the Debian package in a temporary directory. */
async function packAll(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-packages-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const executable = await packageExecutable(directory)
  const archive = join(directory, 'image.tar')
  const notices = join(root, 'dist/THIRD-PARTY-NOTICES.txt')
  packageImage({ executable, notices, version: '0.0.0', archive })
  const debian = await packageDebian({ executable, notices, version: '0.0.0', directory })
  return { directory, executable, archive, debian }
}

/** Unpacks the only layer of the image. Returns the directory and the configuration of the image. */
function unpackImage(archive: string, directory: string) {
  const layout = join(directory, 'layout')
  const image = join(directory, 'root')
  for (const each of [layout, image]) mkdirSync(each)
  execFileSync('tar', ['-xf', archive, '-C', layout])
  const blob = ({ digest }: { digest: string }) => join(layout, 'blobs', digest.replace(':', '/'))
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
  const manifest = read(blob(read(join(layout, 'index.json')).manifests[0]))
  const compressedBytes = statSync(blob(manifest.layers[0])).size
  execFileSync('tar', ['-xzf', blob(manifest.layers[0]), '-C', image, '--no-same-owner'])
  return { image, compressedBytes, config: read(blob(manifest.config)).config }
}

/**
 * Runs the image as a container. The root of the container is read-only, and only `data` and shared memory are
 * writable.
 */
class Container {
  readonly #image: string
  readonly #data: string

  constructor(image: string, data: string) {
    this.#image = image
    this.#data = data
  }

  /** Runs a program in the image until it exits. */
  async run(program: string, ...args: readonly string[]): Promise<Ran> {
    return await runCommand('bwrap', [...this.#arguments(), `/usr/bin/${program}`, ...args])
  }

  /** Starts the server. Resolves when it is ready. */
  async serve(t: TestContext): Promise<ChildProcess> {
    const files = ['--data-dir=/var/lib/orch/data', `--admin-kubeconfig=${kubeconfig}`]
    const args = [...this.#arguments(), '/usr/bin/orch', 'up', '--secure-port=0', ...files]
    const server = spawn('bwrap', args, { stdio: ['ignore', 'pipe', 'pipe'] })
    t.after(() => void server.kill('SIGKILL'))
    let output = ''
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (part) => (output += part))
    const ended = once(server, 'exit').then(() => assert.fail(`the server exited: ${output}`))
    while (!output.includes('is serving at')) await Promise.race([once(server.stdout, 'data'), ended])
    ended.catch(() => {})
    return server
  }

  #arguments(): string[] {
    const mounts = ['--ro-bind', this.#image, '/', '--bind', this.#data, '/var/lib/orch', '--tmpfs', '/dev/shm']
    const user = ['--unshare-user', '--uid', '65532', '--gid', '65532', '--unshare-pid', '--die-with-parent']
    return [...mounts, '--proc', '/proc', ...user, '--clearenv', '--chdir', '/var/lib/orch']
  }
}

/** The files in the Debian package, except for the manual pages. */
const debianFiles = [
  'usr/bin/orch',
  'usr/bin/orchctl',
  'usr/lib/systemd/system/orch.service',
  'usr/share/bash-completion/completions/orchctl',
  'usr/share/doc/orch/THIRD-PARTY-NOTICES.txt.gz',
  'usr/share/doc/orch/changelog.Debian.gz',
  'usr/share/doc/orch/copyright',
  'usr/share/fish/vendor_completions.d/orchctl.fish',
  'usr/share/lintian/overrides/orch',
  'usr/share/zsh/vendor-completions/_orchctl',
]

const kubeconfig = '/var/lib/orch/admin.kubeconfig'

test('the release packages are reproducible and small, and run without other programs', {
  timeout: 1_200_000,
}, async (t) => {
  const first = await packAll(t)
  await t.test('a second build of the release packages produces the same bytes', async (t) => {
    const second = await packAll(t)
    for (const name of ['executable', 'archive', 'debian'] as const)
      assert.equal(hashOf(second[name]), hashOf(first[name]), name)
  })
  const { image, compressedBytes, config } = unpackImage(first.archive, first.directory)
  const data = join(first.directory, 'data')
  mkdirSync(data)
  const container = new Container(image, data)

  await t.test('the container image contains only the executable and its libraries', () => {
    assert.ok(compressedBytes < maxImageBytes, `${compressedBytes} bytes`)
    assert.deepEqual(readdirSync(join(image, 'usr/bin')).sort(), ['orch', 'orchctl'])
    assert.deepEqual([config.User, config.Entrypoint], ['65532:65532', ['/usr/bin/orch']])
  })

  await t.test('the Debian package contains both programs, their manual pages and a systemd unit', () => {
    const unpacked = join(first.directory, 'unpacked')
    execFileSync('dpkg-deb', ['--extract', first.debian, unpacked])
    const files = readdirSync(unpacked, { recursive: true, encoding: 'utf8' })
    assert.deepEqual(
      files.filter((file) => statSync(join(unpacked, file)).isFile() && !file.includes('/man1/')).sort(),
      debianFiles,
    )
    for (const page of ['orch', 'orch-up', 'orchctl', 'orchctl-get'])
      assert.ok(files.includes(`usr/share/man/man1/${page}.1.gz`), page)
    const unit = readFileSync(join(unpacked, 'usr/lib/systemd/system/orch.service'), 'utf8')
    assert.match(unit, /^ExecStart=\/usr\/bin\/orch up /m)
    assert.match(execFileSync(join(unpacked, 'usr/bin/orch'), ['version'], { encoding: 'utf8' }), /^orch \d/)
    const fields = execFileSync('dpkg-deb', ['--field', first.debian, 'Package', 'Version'], { encoding: 'utf8' })
    assert.equal(fields, 'Package: orch\nVersion: 0.0.0-1\n')
  })

  await t.test('lintian finds no errors in the Debian package', async () => {
    const { code, stdout, stderr } = await runCommand('lintian', ['--fail-on=error', '--allow-root', first.debian], {
      timeoutMs: 600_000,
    })
    assert.equal(code, 0, stdout + stderr)
  })

  await t.test(
    'the data survives an upgrade and a removal of the Debian package, until the package is purged',
    async () => {
      const { directory, executable, debian } = first
      const notices = join(root, 'dist/THIRD-PARTY-NOTICES.txt')
      const chroot = join(directory, 'chroot')
      const fromMirror = ['--variant=minbase', '--include=libatomic1,libstdc++6', 'bookworm', chroot]
      await mustRun('debootstrap', fromMirror)
      copyFileSync(debian, join(chroot, 'old.deb'))
      copyFileSync(await packageDebian({ executable, notices, version: '0.0.1', directory }), join(chroot, 'new.deb'))
      const inChroot = (...command: readonly string[]) => mustRun('chroot', [chroot, ...command])
      const data = join(chroot, 'var/lib/orch')
      await inChroot('dpkg', '--install', '/old.deb')
      assert.match(await inChroot('orch', 'version'), /^orch \d/)
      mkdirSync(data)
      writeFileSync(join(data, 'data.mdb'), '')
      await inChroot('dpkg', '--install', '/new.deb')
      assert.match(await inChroot('dpkg', '--status', 'orch'), /^Version: 0\.0\.1-1$/m)
      await inChroot('dpkg', '--remove', 'orch')
      assert.ok(!existsSync(join(chroot, 'usr/bin/orch')))
      assert.deepEqual(readdirSync(data), ['data.mdb'])
      await inChroot('dpkg', '--purge', 'orch')
      assert.ok(!existsSync(data))
    },
  )

  await t.test('a server in the container image runs pods, and its data survives SIGKILL', async (t) => {
    const server = await container.serve(t)
    const orchctl = (...args: string[]) => container.run('orchctl', `--kubeconfig=${kubeconfig}`, ...args)
    const created = await orchctl('create', 'configmap', 'greeting', '--from-literal=hello=world')
    assert.equal(created.code, 0, created.stderr)
    await orchctl('run', 'web', '--image=nginx')
    const waited = await orchctl('wait', 'pod/web', '--for=condition=Ready', '--timeout=60s')
    assert.equal(waited.code, 0, waited.stderr)
    // The health check of the image.
    const healthy = await container.run('orch', ...config.Healthcheck.Test.slice(2))
    assert.match(healthy.stdout, /^ready +yes$/m)
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
    await container.serve(t)
    const { stdout } = await orchctl('get', 'configmap', 'greeting', '-o=jsonpath={.data.hello}')
    assert.equal(stdout, 'world')
  })

  await t.test('the name of the executable selects the program, and failed commands exit with code 1', async () => {
    assert.match((await container.run('orch', 'version')).stdout, /^orch \d/)
    assert.match((await container.run('orchctl', 'version', '--client')).stdout, /^Client Version: v\d/)
    const wrong = await container.run('orch', 'up', '--no-such-flag')
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /--no-such-flag/)
  })
})

/** Runs a command that must succeed. Returns its output. */
async function mustRun(command: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(command, args, { timeoutMs: 400_000 })
  assert.equal(code, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
