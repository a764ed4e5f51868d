//! Keyset pagination: the reading of one page of a list.
//!
//! A list is sorted by a key, one or more columns that are unique together. A page begins after an anchor,
//! the key of the last item before the page, so that creating or deleting items between two requests does not
//! shift the pages.

mod slice;

pub use slice::{MAX_SEARCHED, PAGE_SIZE, PageSlice, Sorting, begins_with};

use crate::db::Error;
use foundation::list_query::Direction;

/// An item of a paginated list.
pub trait HasCursor {
    /// The form of the positions in the list.
    type Cursor: Clone;

    /// Returns the item's position in its list.
    fn cursor(&self) -> Self::Cursor;
}

/// `has_cursor!(Item: created_at, id)` says which fields of an item are its position in a list that is sorted
/// by time and id.
#[macro_export]
macro_rules! has_cursor {
    ($item:ident: $($created_at:ident).+, $($id:ident).+) => {
        impl $crate::paging::HasCursor for $item {
            type Cursor = ::foundation::cursor::Cursor;

            fn cursor(&self) -> ::foundation::cursor::Cursor {
                ::foundation::cursor::Cursor {
                    created_at: self.$($created_at).+,
                    id: self.$($id).+,
                }
            }
        }
    };
}

/// A page of a list.
#[derive(Debug)]
pub struct Page<T: HasCursor> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// Whether the page was read from the beginning of the list. If not, there may be items before it.
    pub is_first: bool,
    /// The position at which the search for items ended, if it ended before the list and before the page was
    /// full.
    pub rest: Option<T::Cursor>,
}

impl<T: HasCursor> Page<T> {
    fn new(mut items: Vec<T>, is_first: bool, rest: Option<T::Cursor>) -> Self {
        items.truncate(PAGE_SIZE);
        Self {
            items,
            is_first,
            rest,
        }
    }

    /// Returns the only page of an empty list.
    pub fn empty() -> Self {
        Self::new(Vec::new(), true, None)
    }

    /// Returns the cursor of the next page, which is that of the last item; `None` if this page is not full,
    /// because no items follow it. A page that is not full for another reason has its own.
    pub fn next(&self) -> Option<T::Cursor> {
        let last = self.items.last().map(T::cursor);
        let last = last.filter(|_| self.items.len() == PAGE_SIZE);
        last.or_else(|| self.rest.clone())
    }
}

/// Reads the page in this direction from the anchor, or the first page if there is no anchor. `fetch` reads
/// the items of a slice, after the anchor that it gets if the slice has one.
pub async fn read_page<T, A, F>(
    direction: Direction,
    sorting: Sorting,
    anchor: Option<A>,
    fetch: impl Fn(PageSlice, Option<A>) -> F,
) -> Result<Page<T>, Error>
where
    T: HasCursor,
    F: Future<Output = Result<Vec<T>, Error>>,
{
    search_page(direction, sorting, anchor, move |slice, anchor| {
        let items = fetch(slice, anchor);
        async move { Ok::<_, Error>((items.await?, None)) }
    })
    .await
}

/// Like [`read_page`], for a list whose items must be searched. `search` also returns the position where it
/// stopped, if it stopped before the slice was full.
pub async fn search_page<T, A, F>(
    direction: Direction,
    sorting: Sorting,
    anchor: Option<A>,
    search: impl Fn(PageSlice, Option<A>) -> F,
) -> Result<Page<T>, Error>
where
    T: HasCursor,
    F: Future<Output = Result<(Vec<T>, Option<T::Cursor>), Error>>,
{
    let is_backward = direction == Direction::Prev;
    if let Some(anchor) = anchor {
        let sorting = if is_backward { sorting.reversed() } else { sorting };
        let (items, rest) = search(PageSlice::of(sorting, true), Some(anchor)).await?;
        // A backward page with nothing before it is the first page, which is read forward so that it is full.
        if !is_backward || items.len() > PAGE_SIZE {
            let mut page = Page::new(items, false, rest);
            if is_backward {
                page.items.reverse();
            }
            return Ok(page);
        }
    }
    let (items, rest) = search(PageSlice::of(sorting, false), None).await?;
    Ok(Page::new(items, true, rest))
}

/// Reads all pages of a list, for a command. `read` reads the page after a cursor, or the first one.
pub async fn read_all<T: HasCursor>(
    read: impl AsyncFn(Option<T::Cursor>) -> Result<Page<T>, Error>,
) -> Result<Vec<T>, Error> {
    let (mut items, mut cursor) = (Vec::new(), None);
    loop {
        let page = read(cursor).await?;
        cursor = page.next();
        items.extend(page.items);
        if cursor.is_none() {
            return Ok(items);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foundation::list_query::Order;
    use proptest::prelude::*;
    use std::future::ready;

    impl HasCursor for i64 {
        type Cursor = Self;

        fn cursor(&self) -> Self {
            *self
        }
    }

    /// Returns a page of the list of the numbers from 0 to `n` − 1.
    fn page(n: i64, order: Order, anchor: Option<i64>, direction: Direction) -> Page<i64> {
        let fetch = |slice: PageSlice, anchor: Option<i64>| {
            assert_eq!(slice.is_anchored, anchor.is_some());
            let numbers: Vec<i64> = match slice.sorting.order {
                Order::Ascending => (anchor.map_or(0, |at| at + 1)..n).collect(),
                Order::Descending => (0..anchor.unwrap_or(n).min(n)).rev().collect(),
            };
            ready(Ok(numbers.into_iter().take(PAGE_SIZE + 1).collect()))
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime
            .block_on(read_page(direction, Sorting::by(&["id"], order), anchor, fetch))
            .unwrap()
    }

    fn numbers(n: i64, order: Order) -> Vec<i64> {
        match order {
            Order::Ascending => (0..n).collect(),
            Order::Descending => (0..n).rev().collect(),
        }
    }

    fn orders() -> impl Strategy<Value = Order> {
        prop_oneof![Just(Order::Ascending), Just(Order::Descending)]
    }

    proptest! {
        #[test]
        fn paging_forward_returns_every_item_once(n in 0_i64..100, order in orders()) {
            let (mut seen, mut anchor) = (Vec::<i64>::new(), None);
            loop {
                let page = page(n, order, anchor, Direction::Next);
                prop_assert_eq!(page.is_first, anchor.is_none());
                seen.extend(&page.items);
                match page.next() {
                    Some(cursor) => anchor = Some(cursor),
                    None => break,
                }
            }
            prop_assert_eq!(seen, numbers(n, order));
        }

        #[test]
        fn a_backward_page_ends_before_its_anchor_or_is_the_first_page(n in 1_i64..100, at in 0_usize..100, order in orders()) {
            let all = numbers(n, order);
            let at = at % all.len();
            let page = page(n, order, Some(all[at]), Direction::Prev);
            let begin = at.saturating_sub(PAGE_SIZE);
            prop_assert_eq!(page.is_first, begin == 0);
            prop_assert_eq!(&page.items, &all[begin..all.len().min(begin + PAGE_SIZE)]);
        }
    }
}
