/** Compiles and runs the examples on the pages for Go, Java and Python. */
import { execFileSync } from 'node:child_process'
import { before } from 'node:test'
import { languagePages } from './pages.ts'
import { testPages } from './run-page.ts'

// The test runner installs the programs that a test file starts. The pages themselves run in a sandbox.
before(() => {
  execFileSync('go', ['version'])
  execFileSync('javac', ['-version'])
  execFileSync('pytest-3', ['--version'])
})

testPages(languagePages)
