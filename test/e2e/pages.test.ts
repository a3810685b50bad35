import { isSlow, pages } from "../support/cli/page.ts";
import { testPage } from "../support/cli/page-tests.ts";

// Pages about tools that take seconds to start.
for (const page of pages()) if (isSlow(page)) testPage(page);
