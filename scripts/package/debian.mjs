// Builds a Debian package: the single executable, manual pages, shell completions, and a systemd unit that the
// administrator enables. Two builds of one commit are byte-equal.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { manualPages } from './manual.ts'

const root = join(import.meta.dirname, '../..')
const sources = join(import.meta.dirname, 'debian')
const architectures = { x64: 'amd64', arm64: 'arm64' }
const maintainer = 'The orch authors <orch@example.org>'
const completions = {
  bash: 'usr/share/bash-completion/completions/orchctl',
  zsh: 'usr/share/zsh/vendor-completions/_orchctl',
  fish: 'usr/share/fish/vendor_completions.d/orchctl.fish',
}

/**
 * Writes the package into a directory and returns its path. `executable` is the single executable, next to its link
 * `orchctl`. `notices` is the file with the licenses of its parts.
 */
export async function packageDebian({ executable, notices, version, directory }) {
  const release = `${version.replace('-', '~')}-1`
  const epoch = sourceDate()
  const work = mkdtempSync(join(tmpdir(), 'orch-debian-'))
  try {
    chmodSync(work, 0o755)
    const tree = new Tree(work)
    await addFiles(tree, { executable, notices, release, epoch })
    addControl(tree, release)
    const file = join(directory, `orch_${release}_${architectures[process.arch]}.deb`)
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch) }
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', work, file], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    return file
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The files below a directory. Their modes do not depend on the user's umask. */
class Tree {
  #root
  bytes = 0

  constructor(root) {
    this.#root = root
  }

  write(path, content, mode = 0o644) {
    writeFileSync(this.#place(path), content, { mode })
    this.#finish(path, mode)
  }

  copy(path, file, mode = 0o644) {
    copyFileSync(file, this.#place(path))
    this.#finish(path, mode)
  }

  link(path, target) {
    symlinkSync(target, this.#place(path))
  }

  #place(path) {
    const parent = dirname(path)
    if (parent !== '.') {
      mkdirSync(join(this.#root, parent), { recursive: true })
      for (let each = parent; each !== '.'; each = dirname(each)) chmodSync(join(this.#root, each), 0o755)
    }
    return join(this.#root, path)
  }

  #finish(path, mode) {
    chmodSync(join(this.#root, path), mode)
    this.bytes += statSync(join(this.#root, path)).size
  }
}

async function addFiles(tree, { executable, notices, release, epoch }) {
  tree.copy('usr/bin/orch', executable, 0o755)
  tree.link('usr/bin/orchctl', 'orch')
  for (const [name, page] of await manualPages()) tree.write(`usr/share/man/man1/${name}.gz`, compressed(page))
  for (const [shell, path] of Object.entries(completions))
    tree.write(path, execFileSync(join(dirname(executable), 'orchctl'), ['completion', shell]))
  tree.write('usr/lib/systemd/system/orch.service', systemdUnit())
  tree.write('usr/share/doc/orch/copyright', copyrightOf(readFileSync(notices, 'utf8')))
  tree.write('usr/share/doc/orch/THIRD-PARTY-NOTICES.txt.gz', compressed(readFileSync(notices)))
  tree.write('usr/share/doc/orch/changelog.Debian.gz', compressed(changelog(release, epoch)))
  tree.copy('usr/share/lintian/overrides/orch', join(sources, 'lintian-overrides'))
}

function addControl(tree, release) {
  const control = readFileSync(join(sources, 'control'), 'utf8')
  const values = {
    version: release,
    architecture: architectures[process.arch],
    maintainer,
    size: String(Math.ceil(tree.bytes / 1024)),
  }
  tree.write(
    'DEBIAN/control',
    control.replace(/\{(\w+)\}/g, (_, name) => values[name]),
  )
  for (const script of ['postinst', 'prerm', 'postrm']) tree.copy(`DEBIAN/${script}`, join(sources, script), 0o755)
}

/** Returns the time of the commit in seconds. */
function sourceDate() {
  const time =
    process.env.SOURCE_DATE_EPOCH ?? execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' })
  return Number(time.trim())
}

/** Compresses content as `gzip -9n` does, without a name and a time. */
function compressed(content) {
  return gzipSync(content, { level: 9 })
}

/** Returns the systemd unit from `deploy/`, without the notes on manual installation. */
function systemdUnit() {
  const unit = readFileSync(join(root, 'deploy/orch.service'), 'utf8')
  const body = unit.slice(unit.indexOf('[Unit]')).replaceAll('/usr/local/bin/', '/usr/bin/')
  return `# To start the server: systemctl enable --now orch. To change its flags: systemctl edit orch.\n${body}`
}

/** Returns the license of orch, with a list of the packages inside it. Their licenses are in the notices. */
function copyrightOf(notices) {
  const packages = [...notices.matchAll(/^-{80}\n(.+)\nLicense: (.+)$/gm)].map(
    ([, name, license]) => `  ${name}: ${license}`,
  )
  const license = readFileSync(join(root, 'LICENSE'), 'utf8').trim()
  const note =
    'The executable contains the packages below. THIRD-PARTY-NOTICES.txt.gz in this directory has their licenses.'
  const apache = 'On Debian, the Apache License 2.0 is also in /usr/share/common-licenses/Apache-2.0.'
  return `orch\n\n${license}\n\n${note}\n${apache}\n\n${packages.join('\n')}\n`
}

function changelog(release, epoch) {
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')
  return `orch (${release}) unstable; urgency=medium\n\n  * Package of orch ${release}.\n\n -- ${maintainer}  ${date}\n`
}
