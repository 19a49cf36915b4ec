/** Runs the commands of the pages that new users read first. `pages.long.test.ts` and `operator-pages.long.test.ts` run all other pages. */
import { firstPages } from './pages.ts'
import { testPages } from './run-page.ts'

testPages(firstPages)
