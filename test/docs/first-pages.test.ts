/** Runs the commands on the pages that new users read first. The long test files run all other pages. */
import { firstPages } from './pages.ts'
import { testPages } from './run-page.ts'

testPages(firstPages)
